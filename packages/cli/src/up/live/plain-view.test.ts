import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createPlainView } from './plain-view.ts';
import { fleetPage } from './testing/macs.ts';
import { testScreen } from './testing/screen.ts';

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
