"""Words that say little in a language: articles, conjunctions, prepositions, pronouns, auxiliaries.

Short on purpose. Words that can carry a wish ("new", "near", "without") and negations are not here.
"""

from __future__ import annotations

STOP_WORDS: dict[str, str] = {
    "danish": """
        af alle at da de dem den denne der deres det dette disse du efter eller en end er et for
        fra ham han hans har havde hende hendes her hos hun hvad hvis hvor i jeg jer jo kan
        kunne med men mig min mine mit nu når og også om op os på sig sin sine sit skal skulle
        som så til ud var vi vil ville vor være været""",
    "dutch": """
        aan al als bij dan dat de der deze die dit doch door dus een en er ge had heb hebben
        heeft hem het hier hij hoe hun ik in is ja je kan kon maar me men met mij mijn na naar
        nog nu of om ons ook op over reeds te tegen toch toen tot u uit uw van veel voor want
        waren was wat we wel werd wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zou""",
    "english": """
        a about am an and are as at be been but by can could d did do does for from had has have
        he her here hers him his how i if in into is it its ll m me my of on or our ours re s
        shall she should so some such t than that the their theirs them then there these they
        this those to ve was we were what when where which who whom why will with would you your
        yours""",
    "finnish": """
        ehkä ei eli he hän häneen hänelle hänen hänet häntä ja jo jos joka jotka kanssa koska
        kuin kun me meidän meille mikä minkä minun minä mutta myös ne niiden niin niitä noin nyt
        oli olivat olla olemme olen olet olette on ovat se sekä sen siitä sinun sinä siten sitä
        tai te teidän tämä tämän tätä vaan vai vaikka voi""",
    "french": """
        a ai au aux avec c ce ces cet cette comme d dans de des donc du elle elles en est et eu
        eux il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne nos notre nous
        on ont ou où par pour qu que qui s sa se ses si son sont sur t ta te tes toi ton tu un
        une vos votre vous y été être""",
    "german": """
        aber als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine
        dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir doch du
        durch ein eine einem einen einer eines er es euch euer eure für hat hatte hier ich ihm
        ihn ihnen ihr ihre im in ins ist ja kann man mein meine mich mir mit nach noch nun nur
        ob oder sein seine sich sie sind so soll über um und uns unser unsere unter vom von vor
        wann war waren was wegen weil welche welcher wenn wer werden wie wir wird wo zu zum zur
        zwischen""",
    "italian": """
        a ad agli ai al alla alle allo anche c che chi ci come con cui da dagli dai dal dalla
        dalle dallo degli dei del della delle dello di e è ed egli era gli ha hanno ho i il in
        io l la le lei li lo loro lui ma mi mia mie miei mio ne negli nei nel nella nelle nello
        noi nostra nostro o per perché più qua quale quello questa queste questi questo se si
        sia sono su sua sue sugli sui sul sulla sulle sullo suo suoi ti tra tu tua tuo un una
        uno vi voi""",
    "norwegian": """
        alle at av da de deg dem den denne der deres det dette disse du eller en er et etter for
        fra ha hadde han hans har henne hennes her hos hun hva hvis hvor i jeg kan kunne man med
        meg men min mine mitt når nå og også om opp oss på seg sin sine sitt skal skulle som så
        til ut var vi vil ville vår være vært å""",
    "portuguese": """
        a ao aos aquela aquele as até com como da das de dela dele deles depois do dos e é ela
        elas ele eles em entre era essa esse esta este eu foi há isso isto já lhe lhes mais mas
        me meu meus minha na nas no nos nós nossa nosso num numa o os ou para pela pelas pelo
        pelos por quais qual quando que quem se seja ser seu seus são só sua suas também te tem
        tu um uma você vocês à às""",
    "russian": """
        а бы был была были было быть в вам вас весь во вот все всех вы где да для до его ее если
        есть же за здесь и из или им их к как ко кто ли мне может мы на над нас него нее них но
        ну о об он она они оно от по под при с сам себя со так также там те тем то того тоже той
        только том ты у уже чего чем что чтобы эта эти это этого этой этом этот я""",
    "spanish": """
        a al algo como con cual cuando de del desde donde e el él ella ellas ellos en entre era
        es esa ese eso esta está están este esto fue ha hasta hay la las le les lo los me mi mis
        muy más nos nosotros nuestra nuestro o os otra otro para pero por porque que quien se
        ser si sobre son su sus también te ti tiene tu tus u un una unas uno unos y ya yo""",
    "swedish": """
        alla att av blev bli blir de dem den denna deras dess det detta dig din dina ditt du där
        då efter eller en er ett från för ha hade han hans har henne hennes hon honom hos hur
        här i jag kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon
        något några och om oss på sig sin sina sitt ska skulle som så till under upp ut vad var
        vara vi vid vilken vår våra är över""",
}
