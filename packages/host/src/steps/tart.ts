import { defineStep } from './step.ts';

/** `tart` with its vendor's signature: the bundle has the entitlement to virtualise, which signing it again would remove. */
export const tart = defineStep({
  name: 'tart',
  title: 'install Tart',
  needsIdle: true,
  deadline: 120_000,
  intent: ({ tart }) => ({ tart }),
  environment: ({ tart }) => ({ TART: tart.sha256 }),
});
