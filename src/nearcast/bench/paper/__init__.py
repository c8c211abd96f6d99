"""The papers' experiments: one entry per figure or table, run by one command.

`p0` to `p4` list the figures of one paper each, `growth` our own curves; `registry` has them all.
An entry says what is measured (`experiment`), with which data (`sources`), how large (`scales`) and
what the paper claims (`claims`). `kinds` measures, `running` runs entries and remembers what is
done, `pages` shows it.

Keys: P0 is [LFilter], P1 [Rt], P2 [AP], P4 [Skype].
"""
