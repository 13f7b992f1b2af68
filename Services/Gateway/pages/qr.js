/**
 * QR codes (ISO/IEC 18004): byte mode, error correction M, versions 1 to 6, so at most 106 bytes.
 * `qrMatrix(text)` gives rows of booleans, true = dark, without the quiet zone.
 */

/** Per version: error-correction bytes of a block, number of blocks, all bytes. */
const VERSIONS = [
  [10, 1, 26], [16, 1, 44], [26, 1, 70], [18, 2, 100], [24, 2, 134], [16, 4, 172],
];

const EXP = new Uint8Array(512);
const LOG = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power += 1) {
  EXP[power] = EXP[power + 255] = value;
  LOG[value] = power;
  value = (value << 1) ^ (value & 0x80 ? 0x11d : 0);
}

const multiply = (a, b) => (a && b ? EXP[LOG[a] + LOG[b]] : 0);

export function qrMatrix(text) {
  const data = new TextEncoder().encode(text);
  const version = 1 + VERSIONS.findIndex(([correction, blocks, all]) =>
    all - correction * blocks >= data.length + 2);
  if (version === 0) throw new RangeError("too long for a QR code");
  const grid = new Grid(version);
  grid.place(interleaved(dataBytes(data, version), version));
  return grid.masked();
}

function dataBytes(data, version) {
  const [correction, blocks, all] = VERSIONS[version - 1];
  const room = all - correction * blocks;
  const bits = [];
  const push = (value, count) => {
    for (let bit = count - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1);
  };
  push(4, 4);
  push(data.length, 8);
  for (const byte of data) push(byte, 8);
  push(0, Math.min(4, room * 8 - bits.length));
  while (bits.length % 8) bits.push(0);
  const bytes = [];
  for (let at = 0; at < bits.length; at += 8) {
    bytes.push(parseInt(bits.slice(at, at + 8).join(""), 2));
  }
  for (let pad = 0xec; bytes.length < room; pad ^= 0xec ^ 0x11) bytes.push(pad);
  return bytes;
}

/** Splits into blocks of one length, adds their correction, and weaves them. */
function interleaved(data, version) {
  const [correction, count] = VERSIONS[version - 1];
  const length = data.length / count;
  const blocks = Array.from({ length: count }, (_, at) => data.slice(at * length, (at + 1) * length));
  const weave = (parts) => parts[0].flatMap((_, at) => parts.map((part) => part[at]));
  return [...weave(blocks), ...weave(blocks.map((block) => remainder(block, correction)))];
}

/** Reed-Solomon over GF(256), polynomial 0x11d. */
function remainder(data, count) {
  let divisor = [1];
  for (let index = 0; index < count; index += 1) {
    const next = new Array(divisor.length + 1).fill(0);
    divisor.forEach((value, at) => {
      next[at] ^= value;
      next[at + 1] ^= multiply(value, EXP[index]);
    });
    divisor = next;
  }
  const rest = [...data, ...new Array(count).fill(0)];
  for (let at = 0; at < data.length; at += 1) {
    const factor = rest[at];
    if (factor) divisor.forEach((value, index) => { rest[at + index] ^= multiply(value, factor); });
  }
  return rest.slice(data.length);
}

class Grid {
  constructor(version) {
    this.version = version;
    this.size = version * 4 + 17;
    this.dark = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
    this.fixed = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
    this.drawPatterns();
  }

  set(x, y, isDark) {
    if (x < 0 || y < 0 || x >= this.size || y >= this.size) return;
    this.dark[y][x] = isDark;
    this.fixed[y][x] = true;
  }

  drawPatterns() {
    const { size, version } = this;
    for (let at = 0; at < size; at += 1) {
      this.set(6, at, at % 2 === 0);
      this.set(at, 6, at % 2 === 0);
    }
    for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) {
      for (let dy = -4; dy <= 4; dy += 1) {
        for (let dx = -4; dx <= 4; dx += 1) {
          const ring = Math.max(Math.abs(dx), Math.abs(dy));
          this.set(x + dx, y + dy, ring !== 2 && ring !== 4);
        }
      }
    }
    if (version > 1) {
      const middle = size - 7;
      for (let dy = -2; dy <= 2; dy += 1) {
        for (let dx = -2; dx <= 2; dx += 1) {
          this.set(middle + dx, middle + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
        }
      }
    }
    this.drawFormat();
  }

  drawFormat() {
    // Level M and mask 0, with their own correction.
    const bits = 0x5412;
    const bit = (index) => ((bits >> index) & 1) === 1;
    for (let at = 0; at < 6; at += 1) this.set(8, at, bit(at));
    this.set(8, 7, bit(6));
    this.set(8, 8, bit(7));
    this.set(7, 8, bit(8));
    for (let at = 9; at < 15; at += 1) this.set(14 - at, 8, bit(at));
    for (let at = 0; at < 8; at += 1) this.set(this.size - 1 - at, 8, bit(at));
    for (let at = 8; at < 15; at += 1) this.set(8, this.size - 15 + at, bit(at));
    this.set(8, this.size - 8, true);
  }

  /** In pairs of columns from the right, up and down in turn. */
  place(bytes) {
    let at = 0;
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      for (let step = 0; step < this.size; step += 1) {
        for (const x of [right, right - 1]) {
          const isUpward = ((right + 1) & 2) === 0;
          const y = isUpward ? this.size - 1 - step : step;
          if (this.fixed[y][x]) continue;
          this.dark[y][x] = ((bytes[at >> 3] >> (7 - (at & 7))) & 1) === 1;
          at += 1;
        }
      }
    }
  }

  /** Mask 0, a chequerboard. The standard would compare eight; readers take any. */
  masked() {
    return this.dark.map((row, y) =>
      row.map((isDark, x) => isDark !== (!this.fixed[y][x] && (x + y) % 2 === 0)));
  }
}
