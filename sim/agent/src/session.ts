import { type Client, createClient, type Logger, type Transport } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import type { Mac } from '@tartan/sim-mac';
import { askForCertificate } from './ask-for-certificate.ts';
import type { AgentFaults } from './faults.ts';
import { type Identity, identityIn, isDue, isOver, keepCertificate, type TransportFor } from './identity.ts';
import { type Launched, textAt } from './launched.ts';
import { reportNode } from './report-node.ts';
import { stampSummary } from './stamps.ts';

export interface SessionOptions {
  readonly mac: Pick<Mac, 'path' | 'address'>;
  readonly launched: Launched;
  readonly faults: AgentFaults;
  readonly transportFor: TransportFor;
  readonly clock: Clock;
  /** Milliseconds between two reports when nothing happens. */
  readonly reportEvery: number;
  readonly log: Pick<Logger, 'debug'> | undefined;
}

/** The life of one process of the agent. */
export interface Session {
  readonly pid: number;
  /** Has it look at the Mac's disk and its faults; it reports at once if something is not as it was reported. */
  look(): void;
  /** The process is gone. Resolves when nothing of it is under way. */
  end(): Promise<void>;
}

interface Connection {
  readonly identity: Identity;
  readonly transport: Transport;
  readonly client: Client;
}

/** From the process's start: join if it has no identity, then report until it ends. Whatever fails is tried again with the next report. */
export const startSession = (options: SessionOptions): Session => {
  const { mac, launched, faults, transportFor, clock, reportEvery, log } = options;
  const { flags, traits } = launched;
  const kubeconfig = mac.path(flags.kubeconfig);
  const ended = new AbortController();
  let wake = new AbortController();
  let connection: Connection | undefined;
  let reported = '';

  /** All that a report depends on. */
  const surroundings = (): string =>
    JSON.stringify([textAt(kubeconfig), stampSummary(mac), faults.neverReady, faults.silent]);

  const connect = async (text: string): Promise<Connection> => {
    const identity = await identityIn(text, clock);
    const transport = transportFor(identity.config, clock);
    return { identity, transport, client: createClient(transport, { clock }) };
  };
  const disconnect = (): void => {
    connection?.transport.close();
    connection = undefined;
  };

  /** Trades the join token, or an old certificate, for a new certificate. Other credentials that came meanwhile win. */
  const becomeNode = async ({ identity, client }: Connection, signal: AbortSignal): Promise<void> => {
    const certificate = await askForCertificate(client, flags.nodeName, signal);
    if (textAt(kubeconfig) === identity.text) keepCertificate(kubeconfig, flags.nodeName, identity.config, certificate);
  };

  const report = async (signal: AbortSignal): Promise<void> => {
    reported = surroundings();
    if (faults.silent) return;
    const text = textAt(kubeconfig);
    if (text === undefined) return;
    if (connection?.identity.text !== text) {
      disconnect();
      connection = await connect(text);
    }
    const { identity, client } = connection;
    if (identity.certificate === undefined || isDue(identity.certificate, clock.now())) {
      // Nobody knows a Node whose certificate has run out: it needs new join credentials.
      if (identity.certificate && isOver(identity.certificate, clock.now())) return;
      await becomeNode(connection, signal);
      return report(signal);
    }
    const ready = !faults.neverReady && !traits.neverReady;
    const summary = stampSummary(mac);
    const node = { flags, version: traits.version, ready, summary, address: mac.address.host };
    await reportNode(client, node, clock.now(), { signal });
  };

  const run = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      wake = new AbortController();
      try {
        await report(ended.signal);
      } catch (error) {
        if (!ended.signal.aborted) log?.debug('an agent could not report', { node: flags.nodeName, error });
      }
      await sleep(clock, reportEvery, AbortSignal.any([ended.signal, wake.signal]));
    }
    disconnect();
  };
  const running = run();

  return {
    pid: launched.pid,
    look: () => {
      if (surroundings() !== reported) wake.abort();
    },
    end: () => {
      ended.abort();
      return running;
    },
  };
};
