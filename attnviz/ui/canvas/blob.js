// One blob of bytes: u32 length of the header, JSON header, payload (zlib). See packing.py.

function readHeader(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  return [header, bytes.subarray(4 + size)];
}

// Pages live one step below the app's root; Streamlit's own script says where that is.
function appRoot() {
  const own = document.querySelector("script[src*='static/js/']");
  return own ? new URL(own.src.split("static/js/")[0]) : new URL("./", document.baseURI);
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// High bytes, then low bytes, as 16-bit codes.
function joinPlanes(bytes) {
  const n = bytes.length >> 1;
  const codes = new Uint16Array(n);
  for (let i = 0; i < n; i++) codes[i] = (bytes[i] << 8) | bytes[n + i];
  return codes;
}

const MASKED_16 = 65535;
const MASKED_8 = 255;

function valueOf(code, top, signed) {
  if (!signed) return (code / 65534) ** 2 * top;
  const root = (code - 32767) / 32767;
  return Math.sign(root) * root * root * top;
}

function unpackBits(bytes, n) {
  const cells = new Uint8Array(n);
  for (let i = 0; i < n; i++) cells[i] = (bytes[i >> 3] >> (7 - (i & 7))) & 1;
  return cells;
}

function packBits(cells) {
  const bytes = new Uint8Array((cells.length + 7) >> 3);
  for (let i = 0; i < cells.length; i++) if (cells[i]) bytes[i >> 3] |= 128 >> (i & 7);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
