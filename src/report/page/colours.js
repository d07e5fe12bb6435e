// Helpers that the pages share: colours of speeds, colours of the page, and bytes within JSON.
'use strict';

// Red, green and blue of the colours of speeds, from slow to fast. People with colour blindness can
// tell them apart.
const SPEED_STOPS = [[165, 0, 38], [244, 109, 67], [253, 200, 110], [145, 191, 219], [69, 117, 180]];

function speedColour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (SPEED_STOPS.length - 1);
  const below = Math.min(Math.floor(at), SPEED_STOPS.length - 2);
  return SPEED_STOPS[below].map(
      (from, i) => Math.round(from + (SPEED_STOPS[below + 1][i] - from) * (at - below)));
}

function rgb(colour) { return `rgb(${colour.join(',')})`; }

function speedGradient() {
  return `linear-gradient(90deg, ${SPEED_STOPS.map(rgb).join(', ')})`;
}

// A colour that style.css defines, in the current mode (light or dark).
function pageColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function onModeChange(redraw) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}

function bytesOf(base64) { return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)); }

function element(parent, tag, text = '', className = '') {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  parent.append(made);
  return made;
}
