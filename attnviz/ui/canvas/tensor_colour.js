// Colours of numbers: by what they are (Q, K, V, scores, weights), readable in both themes.

function themeColours(root, colours) {
  const style = getComputedStyle(root);
  const background = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
  return { ...colours, background: rgb(background) };
}

function rgb(text) {
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = text;
  const hex = probe.fillStyle;
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function mixed(from, to, share) {
  return from.map((a, i) => Math.round(a + (to[i] - a) * share));
}

function onScale(scale, share) {
  const last = scale.findIndex(([at]) => at >= share);
  if (last <= 0) return rgb(scale[Math.max(last, 0)][1]);
  const [a, b] = [scale[last - 1], scale[last]];
  return mixed(rgb(a[1]), rgb(b[1]), (share - a[0]) / (b[0] - a[0]));
}

// share: weights 0 to 1, everything else -1 to 1. Negative numbers are tinted grey, or violet among scores.
function tint(role, share, colours) {
  let colour;
  if (role === "weights") colour = onScale(colours.weights, Math.min(Math.max(share, 0), 1));
  else {
    const ends = colours.roles[role] || colours.roles.plain;
    const end = rgb(share < 0 ? ends[0] : ends[1]);
    colour = mixed(colours.background, end, 0.06 + 0.64 * Math.min(Math.abs(share), 1));
  }
  const light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
  return { fill: `rgb(${colour.join(",")})`, ink: light > 140 ? "#16181d" : "#ffffff" };
}
