"use strict";
(() => {
  // Rows of one verdict: a figure without any of them is hidden, and folded rows open where they are asked for.
  const buttons = [...document.querySelectorAll("button[data-filter]")];
  const choose = (wanted) => {
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.filter === wanted)));
    document.querySelectorAll("tr[data-verdict]").forEach((row) => {
      row.hidden = wanted !== "" && row.dataset.verdict !== wanted;
    });
    document.querySelectorAll("section.exhibit").forEach((section) => {
      section.hidden = wanted !== "" && !section.querySelector(`tr[data-verdict="${wanted}"]`);
      section.querySelectorAll(":scope > table").forEach((table) => {
        table.hidden = !table.querySelector("tbody tr:not([hidden])");
      });
    });
    document.querySelectorAll("details.unjudged-rows").forEach((details) => {
      details.open = wanted === "unjudged";
      details.hidden = wanted !== "" && wanted !== "unjudged";
    });
  };
  buttons.forEach((button) => button.addEventListener("click", () => choose(button.dataset.filter)));

  // Pictures to keep: the wide one, on white, with its title above it.
  const HEAD = 28;
  const alone = (figure, title) => {
    const picture = figure.querySelector(".wide svg").cloneNode(true);
    const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
    picture.setAttribute("viewBox", `0 ${-HEAD} ${width} ${height + HEAD}`);
    picture.setAttribute("width", width);
    picture.setAttribute("height", height + HEAD);
    const head = `<style>${PICTURE_STYLE}</style><rect class="sheet" y="${-HEAD}" width="100%" height="100%"/>`;
    picture.insertAdjacentHTML("afterbegin", head);
    const heading = document.createElementNS("http://www.w3.org/2000/svg", "text");
    heading.setAttribute("class", "heading");
    heading.setAttribute("x", "10");
    heading.setAttribute("y", "-8");
    heading.textContent = title;
    picture.append(heading);
    return { text: new XMLSerializer().serializeToString(picture), width, height: height + HEAD };
  };
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const savePng = ({ text, width, height }, name) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * width;
      canvas.height = 2 * height;
      canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
      canvas.toBlob((blob) => save(blob, name));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  };
  document.querySelectorAll("p.save").forEach((line) => {
    line.hidden = false;
    const { name, title } = line.dataset;
    line.querySelectorAll("button").forEach((button) => {
      button.setAttribute("aria-label", `save "${title}" as ${button.textContent}`);
      button.addEventListener("click", () => {
        const picture = alone(line.closest("figure"), title);
        if (button.dataset.save === "png") savePng(picture, `${name}.png`);
        else save(new Blob([picture.text], { type: "image/svg+xml" }), `${name}.svg`);
      });
    });
  });
})();
