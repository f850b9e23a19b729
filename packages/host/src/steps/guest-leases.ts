import type { Step } from './step.ts';

/**
 * Guests keep their address for ten minutes instead of a day. Every virtual machine is a guest that was never seen before, and there are
 * 253 addresses: with leases of a day a Mac that runs short jobs runs out of them, and guests get none, or one that another has (G28).
 */
export const guestLeases: Step = {
  name: 'guest-leases',
  title: 'let guests keep their addresses for ten minutes',
  deadline: 30_000,
  intent: () => ({ seconds: 600 }),
  environment: () => ({ LEASE_SECONDS: '600' }),
};
