import type { Artifact } from '../artifacts/artifact.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly tart: Artifact;
}

/** `tart`, as its makers signed it: the right to virtualise is an entitlement of the bundle, which signing anew would take away. */
export const tart: Step<Intent> = {
  name: 'tart',
  title: 'install Tart',
  needsIdle: true,
  deadline: 120_000,
  intent: ({ tart }) => ({ tart }),
  environment: ({ tart }) => ({ TART: tart.sha256 }),
  artifacts: ({ tart }) => [tart],
};
