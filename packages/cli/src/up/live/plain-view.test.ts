import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { logLine } from '../event-log.ts';
import { createPlainView } from './plain-view.ts';
import { comingMac, fleetPage, upMac } from './testing/macs.ts';
import { testScreen } from './testing/screen.ts';

const told = (machine: string, what: string): string => `${logLine(machine, what)}\n`;

const started = () => {
  const clock = manualClock();
  const { stdout, written } = testScreen(200, 50);
  return { clock, written, view: createPlainView({ stdout, style: { colours: false }, clock }) };
};

test('without a terminal a finished step is a line with its time; a running step is not printed', () => {
  const { clock, written, view } = started();
  const step = view.step('Kubernetes starts');
  view.fleet(fleetPage(2));
  clock.advance(300);
  assert.deepEqual(written, []);
  step.done('Kubernetes is up');
  step.done('twice');
  view.stop();
  view.writeLine();
  assert.deepEqual(written, ['✓ Kubernetes is up (0.3 s)\n', '\n']);
});

test('without a terminal the log of a Pod, commands and keys are printed once', () => {
  const { written, view } = started();
  view.podLog('kubectl logs build-1', ['booted']);
  view.commands([{ command: 'export KUBECONFIG=x' }, { command: 'kubectl get pods', comment: 'the Pods' }]);
  view.keys('Ctrl-C stops it.');
  assert.equal(
    written.join(''),
    `
kubectl logs build-1
  booted

In another terminal:
export KUBECONFIG=x
kubectl get pods   # the Pods

Ctrl-C stops it.
`,
  );
});

test('without a terminal each host step is printed once, and again after a wipe', () => {
  const { written, view } = started();
  const news = (): string[] => written.splice(0);
  view.progress([comingMac('mac-1', 2, ''), comingMac('mac-2', 0, '')]);
  assert.deepEqual(news(), [told('mac-1', 'over SSH 1/12: step 1'), told('mac-1', 'over SSH 2/12: step 2')]);
  view.progress([comingMac('mac-1', 2, ''), comingMac('mac-2', 1, '')]);
  assert.deepEqual(news(), [told('mac-2', 'over SSH 1/12: step 1')]);
  view.progress([comingMac('mac-1', 0, ''), comingMac('mac-2', 1, '')]);
  view.progress([comingMac('mac-1', 1, ''), comingMac('mac-2', 1, '')]);
  assert.deepEqual(news(), [told('mac-1', 'over SSH 1/12: step 1')]);
});

test('the last host steps of a new machine are printed, those of a machine that was up at the start are not', () => {
  const { written, view } = started();
  view.progress([comingMac('mac-1', 1, ''), upMac('mac-2')]);
  assert.deepEqual(written.splice(0), [told('mac-1', 'over SSH 1/12: step 1')]);
  view.progress([comingMac('mac-1', 11, ''), upMac('mac-2')]);
  written.length = 0;
  view.progress([upMac('mac-1'), upMac('mac-2')]);
  assert.deepEqual(written, [told('mac-1', 'over SSH 12/12: step 12')]);
});
