/// The parts of the web page of a recorded game that are the same for all games: style, HTML and
/// script. recording.cpp adds the game.
#pragma once

namespace traffic::game {

inline constexpr const char* kReplayStyle = R"(
body{font:15px/1.45 system-ui,sans-serif;max-width:840px;margin:1.5em auto;padding:0 1em;color:#222;background:#fff}
h1{font-size:1.4em}svg{width:100%;display:block}.controls{display:flex;gap:.6em;align-items:center;margin:.6em 0}
.controls input[type=range]{flex:1}button,select{font:inherit}table{border-collapse:collapse}
td,th{padding:.1em .8em;text-align:right}th{font-weight:400}td:first-child{text-align:left}
.cell{fill:#f2f2f2}.bean{fill:#1b7837}.team0{color:#2166ac;fill:#2166ac;stroke:#2166ac}
.team1{color:#b35806;fill:#b35806;stroke:#b35806}.body{stroke-linecap:round;stroke-linejoin:round;fill:none}
.letter{fill:#fff;stroke:none;font:bold 11px sans-serif;text-anchor:middle;dominant-baseline:central}
.line{fill:none;stroke-width:1.5}.now{stroke:#888}.label{font-size:10px;fill:#888}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.cell{fill:#262626}
.team0{color:#67a9e0;fill:#4a90d0;stroke:#4a90d0}.team1{color:#f0a04b;fill:#d98324;stroke:#d98324}}
)";

inline constexpr const char* kReplayBody = R"(<svg id="board" role="img" aria-label="board"></svg>
<div class="controls"><button id="play">Pause</button>
<button id="back" aria-label="a step back">&#8249;</button><button id="next" aria-label="a step forward">&#8250;</button>
<input id="at" type="range" min="0" value="0" aria-label="step"><output id="step"></output>
<select id="speed" aria-label="speed"><option value="400">slow</option><option value="120" selected>normal</option>
<option value="40">fast</option></select></div>
<table id="lengths"></table>
<svg id="chart" viewBox="0 0 800 130" role="img" aria-label="length of the teams over the steps"></svg>
<p>The space bar plays and stops, the arrow keys go step by step. The team whose snakes are longer in all at the end wins.</p>
)";

/// The script of the page. It reads the constants rows, columns, teamSnakes and frames. A frame
/// lists for one step the cells of every snake, head first, and the cells of the beans.
inline constexpr const char* kReplayScript = R"(
const size = 20, byId = id => document.getElementById(id);
const board = byId('board'), chart = byId('chart'), at = byId('at');
const last = frames.length - 1, snakes = frames[0].length - 1;
let step = 0, timer = null;
const team = snake => Math.floor(snake / teamSnakes);
const letter = snake => String.fromCharCode(65 + snake);
const x = cell => cell % columns * size + size / 2;
const y = cell => Math.floor(cell / columns) * size + size / 2;
const total = (frame, t) => frame.slice(t * teamSnakes, (t + 1) * teamSnakes).reduce((sum, cells) => sum + cells.length, 0);
const element = (name, attributes, text) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
};
// The shorter of the two ways between two cells, which may lead across the edge of the board.
const around = (by, n) => by > n / 2 ? by - n : by < -n / 2 ? by + n : by;
function bodyPath(cells) {
  let path = '';
  for (let i = 0; i + 1 < cells.length; ++i) {
    const [a, b] = [cells[i], cells[i + 1]];
    const dx = around(b % columns - a % columns, columns) * size;
    const dy = around(Math.floor(b / columns) - Math.floor(a / columns), rows) * size;
    path += `M${x(a)} ${y(a)}l${dx} ${dy}M${x(b)} ${y(b)}l${-dx} ${-dy}`;
  }
  return path || `M${x(cells[0])} ${y(cells[0])}h0`;
}
function drawBoard(frame) {
  const parts = [];
  for (let cell = 0; cell < rows * columns; ++cell) {
    parts.push(element('rect', {x: x(cell) - 9.5, y: y(cell) - 9.5, width: 19, height: 19, rx: 2, class: 'cell'}));
  }
  for (const cell of frame[snakes]) parts.push(element('circle', {cx: x(cell), cy: y(cell), r: 5, class: 'bean'}));
  for (let snake = 0; snake < snakes; ++snake) {
    const cells = frame[snake];
    if (!cells.length) continue;
    parts.push(element('path', {d: bodyPath(cells), class: `body team${team(snake)}`, 'stroke-width': 11}));
    parts.push(element('circle', {cx: x(cells[0]), cy: y(cells[0]), r: 8.5, class: `team${team(snake)}`}));
    parts.push(element('text', {x: x(cells[0]), y: y(cells[0]), class: 'letter'}, letter(snake)));
  }
  board.replaceChildren(...parts);
}
const chartX = s => 30 + s / Math.max(1, last) * 760;
const most = Math.max(...frames.map(frame => Math.max(total(frame, 0), total(frame, 1))));
const chartY = length => 115 - length / most * 105;
const now = element('line', {y1: 8, y2: 115, class: 'now'});
function drawChart() {
  for (const length of [0, most]) chart.append(element('text', {x: 2, y: chartY(length) + 3, class: 'label'}, length));
  for (const t of [0, 1]) {
    const points = frames.map((frame, s) => `${chartX(s).toFixed(1)},${chartY(total(frame, t)).toFixed(1)}`);
    const line = element('polyline', {points: points.join(' '), class: `line team${t}`});
    line.style.fill = 'none';
    chart.append(line);
  }
  chart.append(now);
}
function drawLengths(frame) {
  byId('lengths').replaceChildren(...[0, 1].map(t => {
    const row = document.createElement('tr');
    const cell = (text) => { const made = document.createElement('td'); made.textContent = text; row.append(made); };
    row.className = `team${t}`;
    cell(document.querySelectorAll('h1 span')[t].textContent);
    cell(total(frame, t));
    for (let i = 0; i < teamSnakes; ++i) cell(`${letter(t * teamSnakes + i)} ${frame[t * teamSnakes + i].length}`);
    return row;
  }));
}
function show(to) {
  step = Math.min(last, Math.max(0, to));
  drawBoard(frames[step]);
  drawLengths(frames[step]);
  now.setAttribute('x1', chartX(step));
  now.setAttribute('x2', chartX(step));
  at.value = step;
  byId('step').textContent = `${step} / ${last}`;
  if (step === last) stop();
}
function stop() { clearInterval(timer); timer = null; byId('play').textContent = 'Play'; }
function play() {
  stop();
  if (step === last) step = 0;
  timer = setInterval(() => show(step + 1), +byId('speed').value);
  byId('play').textContent = 'Pause';
}
const toggle = () => timer ? stop() : play();
const goTo = to => { stop(); show(to); };
byId('play').onclick = toggle;
byId('back').onclick = () => goTo(step - 1);
byId('next').onclick = () => goTo(step + 1);
byId('speed').onchange = () => { if (timer) play(); };
at.max = last;
at.oninput = () => goTo(+at.value);
document.onkeydown = event => {
  if (event.target.tagName === 'SELECT') return;
  const action = {' ': toggle, ArrowLeft: () => goTo(step - 1), ArrowRight: () => goTo(step + 1)}[event.key];
  if (action) { event.preventDefault(); action(); }
};
board.setAttribute('viewBox', `0 0 ${columns * size} ${rows * size}`);
drawChart();
show(0);
play();
)";

}  // namespace traffic::game
