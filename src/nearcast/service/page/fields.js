// Errors where they are: under the field, and a mark in the text at the position that the service names.

/** One field of a form that may be wrong. */
export class Field {
  constructor(input) {
    this.input = input;
    this.backdrop = input.parentElement.querySelector(".backdrop");
    this.words = document.getElementById(input.getAttribute("aria-describedby"));
    input.addEventListener("input", () => this.clear());
    input.addEventListener("scroll", () => this.follow());
  }

  clear() {
    this.input.removeAttribute("aria-invalid");
    if (this.words) this.words.textContent = "";
    if (this.backdrop) this.backdrop.replaceChildren();
  }

  /** Show what is wrong; `position` counts characters as people do, not as the browser stores them. */
  show(words, position) {
    this.input.setAttribute("aria-invalid", "true");
    const characters = Array.from(this.input.value);
    const isPlaced = Number.isInteger(position) && this.backdrop;
    if (this.words) this.words.textContent = isPlaced ? `At character ${position + 1}: ${words}` : words;
    if (!isPlaced) return;
    const mark = document.createElement("mark");
    mark.textContent = characters[position] ?? " ";
    this.backdrop.replaceChildren(
      characters.slice(0, position).join(""), mark, characters.slice(position + 1).join(""),
    );
    this.follow();
  }

  follow() {
    if (this.backdrop) this.backdrop.scrollLeft = this.input.scrollLeft;
  }
}
