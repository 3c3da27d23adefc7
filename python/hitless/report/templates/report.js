"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 40rem)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const theme = () => {
    const axis = { gridcolor: colour("--line"), linecolor: colour("--line"), zerolinecolor: colour("--line") };
    return {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--text") },
      font: { color: colour("--text"), family: getComputedStyle(document.body).fontFamily, size: 13 },
      axis,
    };
  };
  const themed = (data, layout) => {
    const { axis, ...rest } = theme();
    const merged = { ...layout, ...rest };
    merged.xaxis = { ...layout.xaxis, ...axis };
    if (data.every((trace) => trace.type === "bar")) merged.xaxis.showgrid = false;
    merged.yaxis = { ...layout.yaxis, ...axis };
    if (narrow.matches) merged.margin = { ...layout.margin, l: 44, r: 4 };
    return merged;
  };
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: narrow.matches ? false : "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d"],
  };
  const plots = [...document.querySelectorAll("figure")].map((figure) => ({
    place: figure.querySelector(".plot"),
    ...JSON.parse(figure.querySelector(".plot-data").textContent),
  }));
  const draw = () => plots.forEach(({ place, data, layout }) => Plotly.react(place, data, themed(data, layout), config));
  draw();
  dark.addEventListener("change", draw);
  narrow.addEventListener("change", draw);
})();
