import { defineStep } from './step.ts';

/** `tart`, as its makers signed it: the right to virtualise is an entitlement of the bundle, which signing anew would take away. */
export const tart = defineStep({
  name: 'tart',
  title: 'install Tart',
  needsIdle: true,
  deadline: 120_000,
  intent: ({ tart }) => ({ tart }),
  environment: ({ tart }) => ({ TART: tart.sha256 }),
});
