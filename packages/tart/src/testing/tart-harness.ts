import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { createTart, type TartOptions } from '../create-tart.ts';
import type { Tart } from '../tart.ts';

export interface TartHarness {
  readonly folder: string;
  readonly fake: FakeTart;
  readonly tart: Tart;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Another driver on the same Mac. */
  driver(options?: Partial<TartOptions>): Tart;
  remove(): void;
}

/** A driver for a fake `tart` in its own folder. */
export const createTartHarness = (options: Partial<TartOptions> = {}): TartHarness => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-tart-'));
  const fake = installFakeTart(folder);
  const environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home };
  const driver = (more: Partial<TartOptions> = {}): Tart =>
    createTart({ path: fake.path, environment, ...options, ...more });
  return {
    folder,
    fake,
    environment,
    tart: driver(),
    driver,
    remove: () => {
      fake.powerOff();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
