import { createLogger, runAsProcess } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { runManager } from '@tartan/provider/program';
import { createPlayedHosts } from './hosts.ts';
import { playedHostsVariable } from './variable.ts';

/** A push over SSH to a fast Mac takes minutes; at the default speed of `tartan up`, a second. */
const pushMs = 1_000;

/** The provider with played hosts, whose agents run in this process too. */
await runAsProcess(async (argv, context) => {
  const folder = context.env[playedHostsVariable];
  if (folder === undefined)
    throw new Error(`${playedHostsVariable} is not set. Set it to the folder of the played Macs.`);
  const log = createLogger({ write: context.stderr, clock, level: 'warn' });
  const hosts = createPlayedHosts({ folder, pushMs, clock, random: Math.random, log });
  await hosts.boot();
  try {
    return await runManager(argv, context, hosts);
  } finally {
    await hosts.stop();
  }
});
