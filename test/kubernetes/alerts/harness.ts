import { leaderElectionID } from '@tartan/api';
import { createMetrics, type Metrics } from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createProviderMetrics, type ProviderMetrics } from '@tartan/provider';
import type { FleetState } from '../../../packages/provider/src/manager/state-metrics.ts';
import { type AgentMetrics, createAgentMetrics } from '../../../packages/tart-kubelet/src/agent/metrics.ts';
import type { Validity } from '../../../packages/tart-kubelet/src/certificates/x509.ts';
import { type Sample, samplesIn } from './exposition.ts';
import { controlPlaneWith, fleetWith, hostIn, macNode, podOn, readyMachine } from './objects.ts';
import { createRunners, type RunnersController, type RunnersState } from './runners.ts';

const day = 24 * 3_600_000;

/** A manager that is scraped. It exports the state of the fleet while it leads. */
interface ScrapedManager {
  readonly metrics: ProviderMetrics;
  leads: boolean;
  scraped: boolean;
}

interface ScrapedAgent {
  readonly metrics: AgentMetrics;
  waitingSince: number | undefined;
  certificates: Record<'client' | 'serving', Validity | undefined>;
  scraped: boolean;
}

/** A healthy fleet of two Macs, as Prometheus sees it: the real exporters of two managers, two runners controllers and two agents. */
export interface Harness {
  readonly clock: ManualClock;
  /** The content of the caches. */
  state: Omit<FleetState, 'now'>;
  readonly leader: ScrapedManager;
  readonly standby: ScrapedManager;
  /** The content of the runners controllers' caches; the first controller leads. */
  pools: RunnersState;
  readonly runners: readonly [RunnersController, RunnersController];
  readonly agents: readonly [ScrapedAgent, ScrapedAgent];
  /** The current samples of these metrics, with the target labels that Prometheus adds. */
  scrape(wanted: ReadonlySet<string>): Promise<Sample[]>;
}

const createManager = (clock: ManualClock, state: () => FleetState, leads: boolean): ScrapedManager => {
  const metrics = createProviderMetrics({ clock });
  const manager: ScrapedManager = { metrics, leads, scraped: true };
  metrics.state.setSource(() => (manager.leads ? state() : undefined));
  metrics.setLeader(leaderElectionID, leads, leads ? 3 : undefined);
  metrics.sweep.stranded(leads ? 0 : undefined);
  metrics.controller('machine').started(10);
  metrics.queue('machine');
  metrics.requestWaited({ verb: 'GET', host: 'api', seconds: 0 });
  metrics.countRequest({ code: 429, method: 'GET', host: 'api' });
  metrics.scalewayCall({ operation: 'listServers', outcome: 'ok', milliseconds: 200 });
  return manager;
};

/** A foreign controller that is broken in every way. It has metrics of the same names, which the alerts must ignore. */
const createStranger = (clock: ManualClock): { metrics: Metrics; scraped: boolean; suffer(): void } => {
  const metrics = createMetrics({ clock });
  metrics.controller('other').started(1);
  const queue = metrics.queue('other');
  queue.added('a');
  queue.taken('a');
  queue.added('b');
  metrics.controller('other').began();
  let changes = 0;
  return {
    metrics,
    scraped: true,
    suffer: () => {
      metrics.setLeader('other-leader', true, changes++);
      metrics.setLeader('another-leader', false);
      metrics.requestWaited({ verb: 'GET', host: 'api', seconds: 30 });
      for (let request = 0; request < 10; request += 1) metrics.countRequest({ code: 429, method: 'GET', host: 'api' });
      metrics.controller('other').ended({ result: 'error', seconds: 1, terminal: false, defect: true });
    },
  };
};

const createAgent = (clock: ManualClock): ScrapedAgent => {
  const week = { notBefore: -day, notAfter: 6 * day };
  const agent: ScrapedAgent = {
    metrics: createAgentMetrics({
      clock,
      oldestWaitingSince: () => agent.waitingSince,
      pullsInProgress: () => 0,
      certificates: () => agent.certificates,
    }),
    waitingSince: undefined,
    certificates: { client: week, serving: week },
    scraped: true,
  };
  agent.metrics.setObserved({ slots: { taken: 1, total: 2 }, guestDisks: [{ vm: 'job', usedPercent: 40 }] });
  agent.metrics.controller('pods').started(4);
  agent.metrics.queue('pods');
  return agent;
};

export const createHarness = (): Harness => {
  // promtool starts in 1970.
  const clock = manualClock(0);
  const state = (): FleetState => ({ ...harness.state, now: clock.now() });
  const leader = createManager(clock, state, true);
  const standby = createManager(clock, state, false);
  const agents = [createAgent(clock), createAgent(clock)] as const;
  const { state: pools, controllers: runners } = createRunners(clock, () => harness.pools);
  const stranger = createStranger(clock);
  const harness: Harness = {
    clock,
    leader,
    standby,
    agents,
    pools,
    runners,
    state: {
      machines: [readyMachine('mac-1'), readyMachine('mac-2')],
      hosts: [hostIn('1', 'held'), hostIn('2', 'held'), hostIn('3', 'pool')],
      fleets: [fleetWith({})],
      controlPlanes: [controlPlaneWith({ expires: day })],
      pods: [podOn('mac-1'), podOn('mac-2', day)],
      nodes: [macNode('mac-1'), macNode('mac-2')],
    },
    scrape: async (wanted) => {
      stranger.suffer();
      const targets = [
        ...[leader, standby].map((one, index) => ({
          one,
          labels: { job: 'tartan', namespace: 'tartan', pod: `manager-${index}`, instance: `192.0.2.${index}:8080` },
        })),
        ...runners.map((one, index) => ({
          one,
          labels: {
            job: 'runners',
            namespace: 'tartan',
            pod: `runners-${index}`,
            instance: `192.0.2.${index + 4}:8080`,
          },
        })),
        ...agents.map((one, index) => ({ one, labels: { job: 'macs', instance: `mac-${index + 1}:10250` } })),
        { one: stranger, labels: { job: 'other', namespace: 'other', instance: '192.0.2.9:8080' } },
      ];
      const samples = await Promise.all(
        targets
          .filter(({ one }) => one.scraped)
          .map(async ({ one, labels }) =>
            samplesIn((await one.metrics.text()).body, wanted).map((sample) => ({
              ...sample,
              labels: { ...labels, ...sample.labels },
            })),
          ),
      );
      return samples.flat();
    },
  };
  return harness;
};
