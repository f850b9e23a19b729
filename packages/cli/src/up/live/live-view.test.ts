import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createLiveView } from './live-view.ts';
import type { UpView } from './up-view.ts';
import { fleetPage } from './testing/macs.ts';
import { testScreen } from './testing/screen.ts';

const started = (t: TestContext, columns = 60, rows = 12) => {
  const clock = manualClock();
  const screen = testScreen(columns, rows);
  screen.stdout.write('$ tartan up\n');
  const view = createLiveView({ stdout: screen.stdout, style: { colours: false }, clock });
  t.after(view.stop);
  return { clock, screen, view, prompt: '$ tartan up' };
};

/** All frames of a short run. */
const live = (view: UpView, frame: () => void): void => {
  const step = view.step('Kubernetes starts');
  view.keys('q: stop');
  frame();
  step.done('Kubernetes is up');
  frame();
  view.fleet(fleetPage(2));
  view.writeLine('  mac-1      joined');
  frame();
  view.writeLine('  mac-2      joined');
  frame();
};

const table = [
  'MACHINE   FLEET   PHASE   HOST        NODE    AGENT    VMS',
  'mac-1     macos   Ready   48d7f3f6…   Ready   v1.2.3   1/2 build-1',
  'mac-2     macos   Ready   48d7f3f6…   Ready   v1.2.3   1/2 build-2',
];
const isUp = '✓ Kubernetes is up (0.2 s)';

describe('on a terminal', () => {
  test('each frame replaces the one before; earlier output stays', (t) => {
    const { clock, screen, view, prompt } = started(t, 66);
    const frames: string[][] = [];
    live(view, () => {
      clock.advance(200);
      frames.push(screen.lines());
    });
    assert.deepEqual(frames[0], [prompt, '⠙ Kubernetes starts (0.1 s)', 'q: stop']);
    assert.deepEqual(frames[1], [prompt, isUp, 'q: stop']);
    assert.deepEqual(frames.at(-1)?.slice(0, 5), [prompt, isUp, ...table]);
    assert.equal(screen.cursorIsShown, false);
  });

  test('stop keeps the last frame without the key hints, restores the cursor and prints plain lines', (t) => {
    const { clock, screen, view, prompt } = started(t, 66);
    live(view, () => clock.advance(200));
    const late = view.step('something else');
    view.stop();
    view.stop();
    assert.equal(screen.cursorIsShown, true);
    view.writeLine('Stopped.');
    view.step('one more').done();
    late.done('something else is there');
    const now = screen.lines();
    assert.deepEqual([now[0], now[1], now[2]], [prompt, isUp, '· something else (0.8 s)']);
    assert.deepEqual(now.slice(-3), ['Stopped.', '✓ one more (0.8 s)', '✓ something else is there (0.8 s)']);
    assert.ok(!now.includes('q: stop'));
    const before = screen.written.length;
    clock.advance(10_000);
    screen.resize(40, 10);
    assert.equal(screen.written.length, before);
  });

  test('a view taller than the rest of the screen scrolls once', (t) => {
    const { clock, screen, view, prompt } = started(t, 66, 7);
    for (let line = 1; line <= 20; line += 1) {
      view.writeLine(`line ${line}`);
      clock.advance(200);
    }
    assert.deepEqual(screen.lines(), [prompt, ...[15, 16, 17, 18, 19, 20].map((line) => `line ${line}`)]);
  });

  for (const [what, columns, rows] of [
    ['narrower', 40, 20],
    ['wider', 120, 20],
    ['lower', 66, 12],
    ['higher', 66, 40],
  ] as const)
    test(`a terminal that became ${what} is redrawn as if it had always had that size`, (t) => {
      const resized = started(t, 66, 20);
      live(resized.view, () => resized.clock.advance(200));
      resized.screen.resize(columns, rows);
      resized.clock.advance(200);
      const fresh = started(t, columns, rows);
      live(fresh.view, () => fresh.clock.advance(200));
      const view = ({ screen, prompt }: typeof fresh) => screen.visible().filter((line) => line !== prompt);
      assert.deepEqual(view(resized), view(fresh));
    });

  test('after shrinking, the visible part is correct', (t) => {
    const { clock, screen, view } = started(t, 66, 12);
    live(view, () => clock.advance(200));
    screen.resize(30, 12);
    clock.advance(200);
    const fresh = started(t, 30, 12);
    live(fresh.view, () => fresh.clock.advance(200));
    assert.deepEqual(screen.visible(), fresh.screen.visible());
  });

  test('40 rows always show the commands for another terminal, KUBECONFIG first, and the log of a Pod in one piece', (t) => {
    const { clock, screen, view } = started(t, 120, 40);
    for (let step = 1; step <= 7; step += 1) view.step(`step ${step}`).done();
    view.commands([
      { command: 'export KUBECONFIG=/tmp/x/kubeconfig' },
      ...Array.from({ length: 8 }, (_, at) => ({ command: `kubectl get example-${at}`, comment: `example ${at}` })),
    ]);
    view.keys('Ctrl-C stops it.');
    const podLog = ['kubectl logs build-1', '  booted', '  step 1', '  step 2'];
    view.podLog('kubectl logs build-1', ['booted', 'step 1', 'step 2']);
    for (let round = 1; round <= 60; round += 1) {
      view.writeLine(`  mac-${round}   joined`);
      view.fleet(fleetPage(1 + (round % 9)));
      clock.advance(200);
      const lines = screen.visible();
      assert.deepEqual(lines.slice(-13, -9), [
        '',
        'In another terminal:',
        'export KUBECONFIG=/tmp/x/kubeconfig',
        'kubectl get example-0   # example 0',
      ]);
      assert.deepEqual(lines.slice(-3), ['kubectl get example-7   # example 7', '', 'Ctrl-C stops it.']);
      const from = lines.indexOf('kubectl logs build-1');
      assert.deepEqual(lines.slice(from, from + podLog.length), podLog);
      assert.equal(lines[from + podLog.length], '');
      assert.ok(lines.includes(`  mac-${round}   joined`));
    }
  });

  test('a line as wide as the terminal is not cut', (t) => {
    const { clock, screen, view, prompt } = started(t, 11, 12);
    for (const line of ['12345678901', 'next']) {
      view.writeLine(line);
      clock.advance(200);
    }
    assert.deepEqual(screen.lines(), [prompt, '12345678901', 'next']);
  });

  test('double-width characters are cut and do not wrap', (t) => {
    const { clock, screen, view, prompt } = started(t, 11, 12);
    view.writeLine('🍎🍎🍎🍎🍎🍎🍎🍎');
    for (const line of ['next', 'last']) {
      view.writeLine(line);
      clock.advance(200);
    }
    assert.deepEqual(screen.lines().toSpliced(1, 1), [prompt, 'next', 'last']);
  });
});

describe('the live view is drawn', () => {
  test('when the state has changed, not when it is the same', (t) => {
    const { clock, screen, view } = started(t);
    const page = fleetPage(2);
    view.fleet(page);
    clock.advance(1000);
    const before = screen.written.length;
    view.fleet(fleetPage(2));
    view.writeLine();
    clock.advance(1000);
    assert.equal(screen.written.length, before);
  });

  test('at most eight times a second, ending with the latest state', (t) => {
    const { clock, screen, view } = started(t);
    for (let ms = 0; ms < 1000; ms += 5) {
      view.writeLine(`at ${ms}`);
      clock.advance(5);
    }
    assert.ok(screen.written.length <= 1 + 9, `${screen.written.length} frames`);
    clock.advance(200);
    assert.equal(screen.lines().at(-1), 'at 995');
  });

  test('for the spinner while a step is running', (t) => {
    const { clock, screen, view } = started(t);
    const step = view.step('it starts');
    clock.advance(1000);
    const turning = screen.written.length;
    assert.ok(turning >= 7, `${turning} frames`);
    step.done();
    clock.advance(200);
    const done = screen.written.length;
    clock.advance(1000);
    assert.equal(screen.written.length, done);
    assert.equal(screen.lines().at(-1), '✓ it starts (1.0 s)');
  });
});

test('the cursor is restored at process exit, and the exit handler is removed by stop', (t) => {
  const before = new Set(process.listeners('exit'));
  const { clock, screen, view } = started(t);
  view.writeLine('x');
  clock.advance(200);
  assert.equal(screen.cursorIsShown, false);
  const added = process.listeners('exit').filter((listener) => !before.has(listener));
  for (const listener of added) listener(1);
  assert.equal(screen.cursorIsShown, true);
  view.stop();
  assert.equal(process.listeners('exit').length, before.size);
  assert.equal(screen.stdout.listenerCount('resize'), 0);
});
