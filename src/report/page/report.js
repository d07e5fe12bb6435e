// Script of report.html: draws the pictures, and the curves of a group when the user unfolds it.
'use strict';

function figure(parent, title, note, part, isFull = false) {
  const made = element(parent, 'figure', '', isFull ? 'full' : '');
  const caption = element(made, 'figcaption');
  if (part) element(caption, 'small', part);
  caption.append(title);
  if (note) element(made, 'p', note);
  return made;
}

function routeName(route) { return route.from === route.to ? route.from : `${route.from} to ${route.to}`; }

function sameRoute(recording, route) {
  return recording.routes.find((one) => one.from === route.from && one.to === route.to && one.rows === route.rows);
}

// Sorts recordings for display: first the one without control, then the controllers from the last to
// the first. The trained controller, which is recorded last, thereby comes before the scripts.
function inOrder(recordings) {
  const none = recordings.filter((one) => one.controller === 'none');
  const rest = recordings.filter((one) => one.controller !== 'none').reverse();
  return [...none, ...rest];
}

function mean(values) { return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1); }

// Number of vehicles in queues over time: slow vehicles on the road, and vehicles that wait to
// enter.
function queueOf(recording) { return recording.slow.map((slow, i) => slow + recording.waiting[i]); }

// Outflow over time in vehicles per hour: the mean over the last two minutes.
function outflowOf(recording) {
  const WINDOW_S = 120;
  let first = 0;
  return recording.time_s.map((time, i) => {
    while (recording.time_s[first] < time - WINDOW_S) ++first;
    const seconds = time - recording.time_s[first];
    return seconds < WINDOW_S / 2 ? null : Math.round((recording.arrived[i] - recording.arrived[first]) * 3600 / seconds);
  });
}

function speedFigure(parent, traffic, part, replay) {
  const shown = inOrder(traffic.recordings);
  const routes = shown[0].routes.filter((route) => shown.every((one) => sameRoute(one, route)));
  if (!routes.length) return;
  const made = figure(parent, 'Where the same traffic slows down under each controller',
                      `${traffic.scenario}, seed ${traffic.seed}. `, part, true);
  const link = element(made.querySelector('p'), 'a', 'Watch the replay');
  link.href = replay;
  const controls = element(made, 'div', '', 'controls');
  const choice = element(controls, 'select');
  choice.title = 'Route';
  for (const route of routes) element(choice, 'option', routeName(route));
  const fastest = Math.max(10, ...shown.flatMap((one) => routes.map((route) => {
    const speeds = bytesOf(sameRoute(one, route).speed).filter((value) => value !== 255).sort();
    return (speeds[Math.floor(speeds.length * 0.98)] || 0) * route.unit_mps;
  })));
  const scale = element(controls, 'span', '', 'legend');
  scale.append('0');
  element(scale, 'span', '', 'scale').style.background = speedGradient();
  scale.append(`${Math.round(fastest)} m/s`);
  const pair = element(made, 'div', '', 'pair');
  const plots = shown.map((one) => {
    const place = element(pair, 'div');
    element(place, 'div', one.controller === 'none' ? 'without control' : one.label);
    return plot(place, () => speedConfig(sameRoute(one, routes[0]), fastest));
  });
  choice.onchange = () => plots.forEach((one, i) => one.replace(
      () => speedConfig(sameRoute(shown[i], routes[choice.selectedIndex]), fastest)));
}

function overTime(parent, traffic, part, title, note, label, valuesOf) {
  const lines = inOrder(traffic.recordings).map((one) => ({
    label: one.controller === 'none' ? 'without control' : one.label, x: one.time_s, y: valuesOf(one),
    dashed: one.controller === 'none',
  }));
  const made = figure(parent, title, note, part);
  plot(made, () => linesConfig({lines, x_label: 'time, s', y_label: label, from_zero: true}));
}

function trafficFigures(parent, picture) {
  const traffic = picture.traffic;
  const inside = traffic.folder ? `${picture.folder}/${traffic.folder}` : picture.folder;
  speedFigure(parent, traffic, picture.part, `${inside}/replay.html`);
  const shown = inOrder(traffic.recordings);
  const beside = (valuesOf, digits) => shown.slice(0, 2).map((one) =>
    `${valuesOf(one).toFixed(digits)} ${one.controller === 'none' ? 'without control' : 'with ' + one.label}`).join(', ');
  overTime(parent, traffic, picture.part, `Vehicles in queues on average: ${beside((one) => mean(queueOf(one)), 1)}`,
           'Vehicles that are slower than 5 m/s or wait to enter.', 'vehicles in queues', queueOf);
  overTime(parent, traffic, picture.part, `Arrived at the end: ${beside((one) => one.arrived.at(-1) || 0, 0)}`,
           'Mean over the last two minutes.', 'outflow, vehicles/h', outflowOf);
}

for (const picture of data.pictures) {
  const parent = document.getElementById('pictures');
  if (picture.kind === 'traffic') {
    trafficFigures(parent, picture);
  } else {
    const config = picture.kind === 'bars' ? barsConfig : linesConfig;
    plot(figure(parent, picture.title, picture.note, picture.part), () => config(picture));
  }
}

for (const group of document.querySelectorAll('details[data-curves]')) {
  group.addEventListener('toggle', () => {
    const place = group.querySelector('.curves');
    if (!group.open || place.childElementCount) return;
    for (const chart of data.curves[group.dataset.curves]) {
      plot(figure(place, chart.title), () => linesConfig(chart));
    }
  });
}
