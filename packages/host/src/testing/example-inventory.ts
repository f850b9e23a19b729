import type { Inventory } from '../engine/inventory.ts';

/** A new Mac on which we have root. */
export const exampleInventory = (overrides: Partial<Inventory> = {}): Inventory => ({
  user: { name: 'm1', uid: 501 },
  root: true,
  time: 1_800_000_000,
  boot: 'boot-1',
  macOS: '15.6.1',
  arch: 'arm64',
  freeKiB: 100 * 1024 * 1024,
  consoleUser: 'root',
  fileVault: 'off',
  agentRelease: undefined,
  lock: undefined,
  rebootPendingSince: undefined,
  stamps: {},
  artifacts: new Set(),
  ...overrides,
});
