import { createClient } from '../../client/create-client.ts';
import { systemClock } from '../../clock/index.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Logger } from '../../logs/logger.ts';
import { httpsTransport } from '../../transport/https-transport.ts';
import { createLeaderElection } from '../election.ts';
import type { Gate } from '../gate.ts';
import { isGateOpen } from './election-harness.ts';

/**
 * A candidate in its own process, for tests that kill and freeze it. In each term it checks the term's gate every few
 * milliseconds, even after the term, and reports every check to its parent. Arguments: a kubeconfig, its own name.
 */

/** `at`: the machine's monotonic clock, shared by all processes, read before the gate check. */
export interface GateCheck {
  term: number;
  passed: boolean;
  at: string;
}

const quiet = (): void => {};
const log: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, with: () => log };

const [kubeconfigPath = '', identity = ''] = process.argv.slice(2);
const config = await loadConfig({ env: {}, clock: systemClock, kubeconfigPath });
const election = createLeaderElection({
  client: createClient(httpsTransport({ ...config, clock: systemClock }), { clock: systemClock }),
  clock: systemClock,
  random: Math.random,
  lease: { namespace: 'default', name: 'it' },
  identity,
  durations: { leaseMs: 2_000, renewDeadlineMs: 1_200, retryPeriodMs: 300 },
  log,
});

let terms = 0;
const lead = (signal: AbortSignal, gate: Gate): Promise<void> => {
  const term = ++terms;
  setInterval(() => {
    const at = process.hrtime.bigint().toString();
    const attempt: GateCheck = { term, passed: isGateOpen(gate), at };
    process.send?.(attempt);
  }, 5);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
};

// Exit with the parent.
process.on('disconnect', () => process.exit());
await election.run(new AbortController().signal, lead);
