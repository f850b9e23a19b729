import { existsSync, readdirSync } from 'node:fs';
import { hostSteps } from '@tartan/host';
import { type Clock, sleep } from '@tartan/kube/clock';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { lineOf } from './story.ts';
import type { Voice } from './voice.ts';

const lookEvery = 100;

/** A Mac also bears stamps of features that are off: proof that nothing of them is there. Our provider is not told to turn these on. */
const off = new Set(['tailscale', 'node-exporter', 'builder-tools', 'actions-runner']);
const shown = hostSteps.filter(({ name }) => !off.has(name));

const stampsOf = ({ mac }: SimulatedServer): ReadonlySet<string> => {
  const folder = mac?.path('/var/db/tartan/steps') ?? '';
  return new Set(existsSync(folder) ? readdirSync(folder) : []);
};

/** Tells each step that is done on a Mac, as its disk shows it: a stamp that was not there before. */
export const tellSteps = async (
  servers: () => readonly SimulatedServer[],
  voice: Voice,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> => {
  const before = new Map<string, ReadonlySet<string>>();
  while (!signal.aborted) {
    for (const server of servers()) {
      const now = stampsOf(server);
      const known = before.get(server.id) ?? new Set();
      for (const [at, { name, title }] of shown.entries())
        if (now.has(name) && !known.has(name))
          voice.say(lineOf(server.name, voice.dim(`over SSH ${at + 1}/${shown.length}: ${title}`)));
      before.set(server.id, now);
    }
    await sleep(clock, lookEvery, signal);
  }
};
