// Functions that draw charts with Chart.js; report.js uses them.
'use strict';

const LINE_COLOURS = {
  light: ['#2166ac', '#d6604d', '#1b7837', '#9970ab', '#b35806', '#35978f', '#7f6a00', '#c51b7d'],
  dark: ['#78b3ea', '#f4a582', '#7fcf8e', '#c9a6e0', '#fdb863', '#80cdc1', '#e0cf6a', '#f1a6d2'],
};

function isDark() { return matchMedia('(prefers-color-scheme: dark)').matches; }

function lineColour(i) {
  const colours = LINE_COLOURS[isDark() ? 'dark' : 'light'];
  return colours[i % colours.length];
}

Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.interaction = {mode: 'nearest', axis: 'x', intersect: false};

function axis(label, more = {}) {
  return {
    grid: {color: pageColour('line'), borderColor: pageColour('line')},
    ticks: {color: pageColour('soft'), maxRotation: 0, autoSkipPadding: 12},
    title: {display: Boolean(label), text: label || '', color: pageColour('soft')},
    ...more,
  };
}

// Makes an axis show ticks only at whole numbers; for axes of steps.
function whole(made) {
  made.ticks.precision = 0;
  return made;
}

// Adds a chart. It is drawn again when the browser changes between light and dark mode.
function plot(parent, makeConfig) {
  const canvas = element(element(parent, 'div', '', 'plot'), 'canvas');
  let chart = new Chart(canvas, makeConfig());
  onModeChange(() => {
    chart.destroy();
    chart = new Chart(canvas, makeConfig());
  });
  return {replace(config) { makeConfig = config; chart.destroy(); chart = new Chart(canvas, makeConfig()); }};
}

function points(x, y) { return x.map((at, i) => ({x: at, y: y[i]})); }

// The data sets of Chart.js for one line: the line itself and, if it has an interval, the two
// bounds of the interval with the area between them filled.
function datasetsOf(line, i) {
  const colour = lineColour(i);
  const single = line.y.filter((y) => y !== null).length < 2;
  const shown = {
    label: line.label, data: points(line.x, line.y), borderColor: colour, backgroundColor: colour,
    borderWidth: 2, borderDash: line.dashed ? [6, 4] : [], pointRadius: single ? 3 : line.x.length > 40 || line.dashed ? 0 : 2,
    pointHitRadius: 8, yAxisID: line.right_axis ? 'right' : 'y',
  };
  if (!line.low) return [shown];
  const bound = (y, fill) => ({
    data: points(line.x, y), fill, backgroundColor: colour + '33', borderWidth: 0, pointRadius: 0,
    pointHitRadius: 0, isBound: true,
  });
  return [shown, bound(line.low, false), bound(line.high, '-1')];
}

function linesConfig(picture) {
  const right = picture.lines.find((line) => line.right_axis);
  const ends = picture.lines.flatMap((line) => [line.x[0], line.x.at(-1)]).filter((x) => x !== undefined);
  // If the axis began at step 1 and not at 0, the ticks would be at 1, 101, 201.
  const nearZero = Math.min(...ends) < 0.05 * Math.max(...ends);
  const scales = {
    x: whole(axis(picture.x_label, {type: 'linear', bounds: 'data', beginAtZero: nearZero})),
    y: axis(picture.y_label, {beginAtZero: Boolean(picture.from_zero), grace: '5%'}),
  };
  if (right) {
    scales.right = axis(right.right_axis, {position: 'right', beginAtZero: true, grid: {drawOnChartArea: false}});
  }
  return {
    type: 'line',
    data: {datasets: picture.lines.flatMap(datasetsOf)},
    options: {
      scales,
      plugins: {
        legend: {
          display: picture.lines.length > 1, position: 'bottom',
          labels: {
            color: pageColour('text'), boxWidth: 18, boxHeight: 1, padding: 10,
            filter: (item, all) => !all.datasets[item.datasetIndex].isBound,
          },
        },
        tooltip: {filter: (item) => !item.dataset.isBound},
      },
    },
  };
}

function barsConfig(picture) {
  return {
    type: 'bar',
    data: {labels: picture.names, datasets: [{data: picture.values, backgroundColor: lineColour(0), maxBarThickness: 26}]},
    options: {
      indexAxis: 'y',
      interaction: {mode: 'nearest', axis: 'y', intersect: false},
      scales: {x: axis(picture.x_label, {beginAtZero: true}), y: axis('', {grid: {display: false}})},
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: (item) => `${item.parsed.x.toFixed(1)} %`}},
      },
    },
  };
}

// A chart of the mean speed over time and distance. It is an empty chart with axes, on which the
// speeds are painted as coloured cells.
function speedConfig(route, fastest) {
  const cells = bytesOf(route.speed);
  const picture = document.createElement('canvas');
  picture.width = route.columns;
  picture.height = route.rows;
  const context = picture.getContext('2d');
  const pixels = context.createImageData(route.columns, route.rows);
  for (let column = 0; column < route.columns; ++column) {
    for (let row = 0; row < route.rows; ++row) {
      const value = cells[column * route.rows + row];
      if (value === 255) continue;
      const at = 4 * ((route.rows - 1 - row) * route.columns + column);
      pixels.data.set([...speedColour(value * route.unit_mps / fastest), 255], at);
    }
  }
  context.putImageData(pixels, 0, 0);
  const seconds = route.columns * route.cell_s;
  const metres = route.rows * route.cell_m;
  const speedAt = (x, y) => cells[Math.floor((x - route.begin_s) / route.cell_s) * route.rows + Math.floor(y / route.cell_m)];
  return {
    type: 'scatter',
    data: {datasets: [{data: []}]},
    options: {
      scales: {
        x: axis('time, s', {min: route.begin_s, max: route.begin_s + seconds, grid: {display: false}}),
        y: axis('distance along the route, m', {min: 0, max: metres, grid: {display: false}}),
      },
      plugins: {legend: {display: false}, tooltip: {enabled: false}},
      onHover: (event, unused, chart) => {
        const value = speedAt(chart.scales.x.getValueForPixel(event.x), chart.scales.y.getValueForPixel(event.y));
        chart.canvas.title = value === undefined || value === 255 ? '' : `${(value * route.unit_mps).toFixed(1)} m/s`;
      },
    },
    plugins: [{
      id: 'cells',
      beforeDatasetsDraw: (chart) => {
        const {left, top, width, height} = chart.chartArea;
        chart.ctx.save();
        chart.ctx.imageSmoothingEnabled = false;
        chart.ctx.drawImage(picture, left, top, width, height);
        chart.ctx.restore();
      },
    }],
  };
}
