// Token labels along an axis: measured, shortened, thinned, and lit ones always drawn.

const LONGEST_LABEL = 118;

class Labels {
  constructor(tokens) {
    this.texts = tokens.map(shown);
    this.cache = new Map();
    this.widest = null;
  }

  // The text cut to at most `room` pixels, and its width, in the font that `context` has.
  cut(context, i, room) {
    const key = `${i}|${room}|${context.font}`;
    let found = this.cache.get(key);
    if (!found) {
      if (this.cache.size > 8000) this.cache.clear();
      let text = this.texts[i].length > 60 ? `${this.texts[i].slice(0, 59)}…` : this.texts[i];
      let width = context.measureText(text).width;
      const letters = [...text.replace(/…$/, "")];
      while (width > room && letters.length > 1) {
        letters.splice(Math.max(1, Math.floor(letters.length * Math.min(0.95, room / width))));
        text = `${letters.join("")}…`;
        width = context.measureText(text).width;
        if (letters.length === 1) break;
      }
      found = { text, width };
      this.cache.set(key, found);
    }
    return found;
  }

  // Width of the widest label, up to the longest that is drawn.
  width(context, room = LONGEST_LABEL) {
    if (this.widest === null || this.widest.font !== context.font || this.widest.room !== room) {
      let most = 0;
      for (let i = 0; i < this.texts.length && most < room; i++) {
        most = Math.max(most, this.cut(context, i, room).width);
      }
      this.widest = { font: context.font, room, most };
    }
    return this.widest.most;
  }
}

// Every how many tokens a label is written, when one needs `need` pixels.
function thin(cell, need) {
  const steps = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500];
  return steps.find((step) => step * cell >= need) || 1000;
}

function pill(context, text, x, y, width, align, colour, theme, size) {
  const w = width + 8;
  const h = size + 6;
  const left = align === "right" ? x - width - 4 : align === "center" ? x - w / 2 : x - 4;
  context.fillStyle = theme.background;
  roundedRect(context, left - 1, y - h / 2 - 1, w + 2, h + 2, 5);
  context.fill();
  context.fillStyle = colour;
  roundedRect(context, left, y - h / 2, w, h, 4);
  context.fill();
  context.fillStyle = "#ffffff";
  context.textAlign = align;
  context.textBaseline = "middle";
  context.fillText(text, x, y + 0.5);
}

function roundedRect(context, x, y, w, h, r) {
  context.beginPath();
  context.roundRect(x, y, w, h, Math.max(0, Math.min(r, w / 2, h / 2)));
}
