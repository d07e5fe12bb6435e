// Script of replay.html: plays recorded traffic on a map of the road network. It shows two
// recordings of the same seed, under two controllers, at the same time.
'use strict';

const network = data.network;
const LANE_M = 3.2;
const VEHICLE_M = 4.5;
const COMMANDED = '#e6259b';
const isDriving = data.kind === 'driving';  // the controllers drive single vehicles and plan ways

// Decodes a recording. Each vehicle becomes a track: the vehicle's samples, one per frame. A sample
// has five bytes in `samples`; `at` is the index of the first byte of the track.
function opened(recording) {
  const samples = bytesOf(recording.samples);
  let at = 0;
  const tracks = recording.vehicles.map(([id, isCv, first, count]) => {
    const track = {isCv, first, count, at};
    at += 5 * count;
    return track;
  });
  // For each light, the times at which its state changes, with the new states.
  const lights = [];
  for (const [since, light, state] of recording.lights ?? []) (lights[light] ??= []).push({since, state});
  return {...recording, samples, tracks, lights};
}

function sampleOf(recording, track, frame) {
  const at = track.at + 5 * (frame - track.first);
  const s = recording.samples;
  const unit = recording.side_m / 65535;
  return {
    x: network.left + (s[at] | s[at + 1] << 8) * unit, y: network.bottom + (s[at + 2] | s[at + 3] << 8) * unit,
    speed: (s[at + 4] & 127) / 2, commanded: s[at + 4] > 127,
  };
}

// The vehicles at a time between two frames, at positions interpolated in a straight line. A vehicle
// that is not in the next frame does not move after its last frame.
function vehiclesAt(recording, time) {
  const exact = Math.max(0, (time - recording.begin_s) / recording.frame_s);
  const frame = Math.min(Math.floor(exact), recording.frames - 1);
  const part = Math.min(exact - frame, 1);
  const shown = [];
  for (const track of recording.tracks) {
    if (frame < track.first || frame >= track.first + track.count) continue;
    const from = sampleOf(recording, track, frame);
    const to = frame + 1 < track.first + track.count ? sampleOf(recording, track, frame + 1) : from;
    const moved = Math.hypot(to.x - from.x, to.y - from.y);
    // A standing vehicle that changes lanes jumps sideways. It keeps its heading.
    const jumps = moved > 1.5 * Math.max(from.speed, to.speed) * recording.frame_s + 0.3;
    if (moved > 0.3 && !jumps || track.heading === undefined) track.heading = Math.atan2(to.y - from.y, to.x - from.x);
    shown.push({
      x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part,
      speed: from.speed + (to.speed - from.speed) * part, commanded: from.commanded, isCv: track.isCv,
      heading: track.heading,
    });
  }
  return shown;
}

const recordings = data.recordings.map(opened);
const left = Math.max(0, recordings.findIndex((one) => one.controller === (isDriving ? 'sumo' : 'none')));
let right = recordings.length - 1;
const end = Math.max(...recordings.map((one) => one.begin_s + (one.frames - 1) * one.frame_s));
const begin = Math.min(...recordings.map((one) => one.begin_s));
let fastest = 1;
for (const one of recordings) {
  for (let i = 4; i < one.samples.length; i += 5) fastest = Math.max(fastest, (one.samples[i] & 127) / 2);
}

const width = Math.max(network.right - network.left, 1);
const height = Math.max(network.top - network.bottom, 1);
const isWide = width > 1.4 * height;
const find = (id) => document.getElementById(id);

// The part of the network that both views show: the point in the middle and the zoom factor.
const look = {x: (network.left + network.right) / 2, y: (network.bottom + network.top) / 2, zoom: 1};

function makeView(index) {
  const box = element(find('views'), 'div', '', 'view');
  const header = element(box, 'header');
  const view = {
    index, name: element(header, 'strong'), state: element(header, 'span', '', 'state'),
    canvas: element(box, 'canvas'),
  };
  addPointer(view);
  return view;
}

function scaleOf(view) {
  return look.zoom * 0.94 * Math.min(view.canvas.clientWidth / width, view.canvas.clientHeight / height);
}

// Gives the canvas of a view as many pixels as it has on the screen.
function fit(view) {
  const w = view.canvas.parentElement.clientWidth;
  const shape = isWide ? Math.max(height / width, 0.12) : Math.min(height / width, 1);
  const h = Math.round(Math.min(Math.max(w * shape + 30, 110), innerHeight * 0.7));
  view.canvas.style.height = `${h}px`;
  view.canvas.width = Math.round(w * devicePixelRatio);
  view.canvas.height = Math.round(h * devicePixelRatio);
}

function drawRoads(context, scale) {
  context.strokeStyle = pageColour('road');
  context.lineJoin = context.lineCap = 'round';
  for (const lane of network.lanes) {
    context.lineWidth = Math.max(LANE_M * scale, 1.5);
    context.lineCap = lane.internal ? 'round' : 'butt';
    context.beginPath();
    for (let i = 0; i < lane.line.length; i += 2) context.lineTo(lane.line[i] * scale, -lane.line[i + 1] * scale);
    context.stroke();
  }
}

// Letters of SUMO's signal states with their colours, most permissive first: go, go but give way,
// yellow, stop. A lane with several links has the colour of the most permissive state.
const LIGHT_COLOURS = [['G', '#2da44e'], ['g', '#2da44e'], ['s', '#2da44e'], ['y', '#d9a520'], ['Y', '#d9a520'],
  ['u', '#d9a520'], ['r', '#d1242f']];

function drawLights(context, recording, scale) {
  for (const {light, links, line} of network.stop_lines ?? []) {
    const changes = recording.lights[light] ?? [];
    let now = 0;
    while (now + 1 < changes.length && changes[now + 1].since <= time) ++now;
    const shown = links.map((link) => changes[now]?.state[link]);
    const colour = LIGHT_COLOURS.find(([letter]) => shown.includes(letter));
    if (!colour) continue;  // switched off
    const [x, y] = [(line[0] + line[2]) / 2 * scale, -(line[1] + line[3]) / 2 * scale];
    const long = Math.hypot(line[2] - line[0], line[3] - line[1]) / 2;
    const half = Math.max(long * scale, 5) / Math.max(long, 0.1);  // at least 10 pixels long
    const [dx, dy] = [(line[2] - line[0]) / 2 * half, -(line[3] - line[1]) / 2 * half];
    context.strokeStyle = colour[1];
    context.lineWidth = Math.max(1.2 * scale, 3.5);
    context.lineCap = 'butt';
    context.beginPath();
    context.moveTo(x - dx, y - dy);
    context.lineTo(x + dx, y + dy);
    context.stroke();
  }
}

function drawVehicle(context, vehicle, scale) {
  // Vehicles have a minimum size in pixels, so that they are visible at every zoom.
  const length = Math.max(VEHICLE_M * scale, innerWidth < 700 ? 5 : 7);
  const breadth = Math.max(0.42 * length, 3.5);
  context.save();
  context.translate(vehicle.x * scale, -vehicle.y * scale);
  context.rotate(-vehicle.heading);
  if (vehicle.commanded || vehicle.isCv) {
    const by = (vehicle.commanded ? 2 : 1) * (length > 7 ? 1.5 : 0.8);
    context.fillStyle = vehicle.commanded ? COMMANDED : pageColour('text');
    context.beginPath();
    context.roundRect(-length - by, -breadth / 2 - by, length + 2 * by, breadth + 2 * by, breadth / 2);
    context.fill();
  }
  context.fillStyle = rgb(speedColour(vehicle.speed / fastest));
  context.beginPath();
  context.roundRect(-length, -breadth / 2, length, breadth, breadth / 3);
  context.fill();
  context.restore();
}

// Draws the ways that the driven vehicles plan for the next three seconds. The drivers made these
// plans in the last frame before the time shown.
function drawPlans(context, recording, scale) {
  if (!recording.plans) return;
  const frame = Math.floor(Math.max(0, (time - recording.begin_s) / recording.frame_s) + 1e-6);
  context.strokeStyle = COMMANDED;
  context.lineWidth = Math.max(0.4 * scale, 1.5);
  context.lineJoin = context.lineCap = 'round';
  for (const line of recording.plans[Math.min(frame, recording.plans.length - 1)] ?? []) {
    context.beginPath();
    for (let i = 0; i < line.length; i += 2) context.lineTo(line[i] * scale, -line[i + 1] * scale);
    context.stroke();
  }
}

function draw(view) {
  const recording = recordings[view.index];
  const vehicles = vehiclesAt(recording, time);
  const context = view.canvas.getContext('2d');
  const scale = scaleOf(view);
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, view.canvas.clientWidth, view.canvas.clientHeight);
  context.translate(view.canvas.clientWidth / 2 - look.x * scale, view.canvas.clientHeight / 2 + look.y * scale);
  drawRoads(context, scale);
  drawLights(context, recording, scale);
  // Commanded vehicles are drawn last, so that others do not hide them.
  vehicles.sort((a, b) => Number(a.commanded) - Number(b.commanded));
  for (const vehicle of vehicles) drawVehicle(context, vehicle, scale);
  drawPlans(context, recording, scale);
  const mean = vehicles.reduce((sum, one) => sum + one.speed, 0) / Math.max(vehicles.length, 1);
  view.name.textContent = recording.controller === 'none' ? 'without control' : recording.label;
  view.state.textContent = `${vehicles.length} vehicles, ${mean.toFixed(1)} m/s, ` +
      `${vehicles.filter((one) => one.commanded).length} ${isDriving ? 'driven' : 'commanded'}`;
}

let time = begin;
let isPlaying = false;
let lastTick = 0;

function drawAll() {
  views.forEach(draw);
  find('seek').value = time;
  find('time').value = `${time.toFixed(0)} of ${end.toFixed(0)} s`;
}

function tick(now) {
  if (!isPlaying) return;
  time = Math.min(end, time + (now - lastTick) / 1000 * Number(find('rate').value));
  lastTick = now;
  drawAll();
  if (time >= end) play(false);
  requestAnimationFrame(tick);
}

function play(on) {
  if (on && time >= end) time = begin;
  isPlaying = on;
  find('play').textContent = on ? 'Pause' : 'Play';
  lastTick = performance.now();
  if (on) requestAnimationFrame(tick);
}

function seek(to) {
  time = Math.min(Math.max(to, begin), end);
  drawAll();
}

function zoom(factor) {
  look.zoom = Math.min(Math.max(look.zoom * factor, 1), 200);
  drawAll();
}

function addPointer(view) {
  view.canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.25 : 0.8);
  }, {passive: false});
  view.canvas.addEventListener('pointerdown', (event) => view.canvas.setPointerCapture(event.pointerId));
  view.canvas.addEventListener('pointermove', (event) => {
    if (!view.canvas.hasPointerCapture(event.pointerId)) return;
    look.x -= event.movementX / scaleOf(view);
    look.y += event.movementY / scaleOf(view);
    drawAll();
  });
}

if (isDriving) {
  find('cv').hidden = true;
  find('commanded').textContent = 'driven, with its plan';
}
find('views').className = isWide ? 'views' : 'views beside';
const views = [makeView(left)];
if (recordings.length > 1) views.push(makeView(right));
recordings.forEach((one, i) => {
  const option = element(find('other'), 'option', one.label);
  option.value = i;
  option.selected = i === right;
});
find('other').parentElement.hidden = recordings.length < 3;
find('other').onchange = () => {
  right = Number(find('other').value);
  views[views.length - 1].index = right;
  drawAll();
};
find('scale').style.background = speedGradient();
find('fastest').textContent = `${Math.round(fastest)} m/s`;
find('seek').min = begin;
find('seek').max = end;
find('seek').oninput = () => seek(Number(find('seek').value));
find('play').onclick = () => play(!isPlaying);
find('closer').onclick = () => zoom(1.5);
find('further').onclick = () => zoom(1 / 1.5);
find('whole').onclick = () => {
  Object.assign(look, {x: (network.left + network.right) / 2, y: (network.bottom + network.top) / 2, zoom: 1});
  drawAll();
};
addEventListener('keydown', (event) => {
  if (event.target.tagName === 'SELECT' || event.target.id === 'seek') return;
  if (event.key === ' ') { event.preventDefault(); if (event.target.tagName !== 'BUTTON' || event.target.id !== 'play') play(!isPlaying); }
  if (event.key === 'ArrowRight') seek(time + 5);
  if (event.key === 'ArrowLeft') seek(time - 5);
});
function refit() {
  views.forEach(fit);
  drawAll();
}
addEventListener('resize', refit);
onModeChange(drawAll);
refit();
// replay.html#120 opens the page at 120 s.
const wanted = Number(location.hash.slice(1));
if (wanted) seek(wanted);
