import { existsSync, readdirSync } from 'node:fs';
import { hostSteps } from '@tartan/host';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import type { StepOnMac } from './mac-progress.ts';

/** A Mac also bears stamps of features that are off: proof that nothing of them is there. Our provider is not told to turn these on. */
const off: ReadonlySet<string> = new Set(['tailscale', 'node-exporter']);
const ofBuilders: ReadonlySet<string> = new Set(['builder-tools', 'actions-runner']);

/** What is done on a Mac, as its disk shows it: by stamps. */
export const stepsOnMac = (server: Pick<SimulatedServer, 'mac'> | undefined, isBuilder: boolean): StepOnMac[] => {
  const shown = hostSteps.filter(({ name }) => !off.has(name) && (isBuilder || !ofBuilders.has(name)));
  const folder = server?.mac?.path('/var/db/tartan/steps') ?? '';
  const stamps = new Set(existsSync(folder) ? readdirSync(folder) : []);
  return shown.map(({ name, title }) => ({ title, done: stamps.has(name) }));
};
