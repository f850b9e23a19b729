import { type HostSpec, hostSteps, type Stamps, summaryOf, wantedStamps } from '@tartan/host';

/** The state of one Mac: its disk and its processes. Plain data: it can be copied. */
export interface Mac {
  readonly id: string;
  readonly ip: string;
  /** The number of the installation: a wipe starts another one, with another host key. */
  install: number;
  stamps: Stamps;
  /** The bootstrap token in its kubeconfig. */
  join: { readonly tokenID: string; readonly secret: string } | undefined;
  /** It has received a certificate for its token. */
  hasIdentity: boolean;
  agent: Agent | undefined;
  /** Summaries of this installation that its agent, or a completed push, has reported. */
  reportedHashes: string[];
  /** No GUI login before so many restarts. */
  restartsNeeded: number;
}

/** The agent that was started last. */
export interface Agent {
  readonly nodeName: string;
  readonly providerID: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Counts starts: work of an earlier process is void. */
  readonly start: number;
}

export const newMac = (id: string, ip: string): Mac => ({
  id,
  ip,
  install: 0,
  stamps: {},
  join: undefined,
  hasIdentity: false,
  agent: undefined,
  reportedHashes: [],
  restartsNeeded: 0,
});

export const hostKeyOf = ({ id, install }: Mac): string => `SHA256:${id.slice(-4)}-${install}`;

export const summaryOn = ({ stamps }: Mac): string => summaryOf(stamps);

/** The disk is empty. */
export const wipe = (mac: Mac): void => {
  mac.install += 1;
  mac.stamps = {};
  mac.join = undefined;
  mac.hasIdentity = false;
  mac.agent = undefined;
  mac.reportedHashes = [];
};

/** Parts of a push, in order. A process can die between any two of them. */
export const parts = ['prepared', 'handed join credentials', 'running the agent'] as const;
export type Part = (typeof parts)[number];

const order = hostSteps.map(({ name }) => name);
const partOf = (step: string): Part => {
  const at = order.indexOf(step);
  const handover = order.indexOf('join-credentials');
  return at < handover ? 'prepared' : at === handover ? 'handed join credentials' : 'running the agent';
};
const needsIdle = new Set(hostSteps.filter((step) => step.needsIdle === true).map(({ name }) => name));

export interface MacPlan {
  /** Stamps to set, by part. */
  readonly changes: ReadonlyMap<Part, Stamps>;
  readonly deferred: readonly { readonly step: string; readonly reason: 'the host is not idle' }[];
}

/** What a push would change, as planned by the engine of packages/host: only steps that differ, and none that needs an idle Mac. */
export const planFor = (mac: Mac, spec: HostSpec, idle: boolean): MacPlan => {
  const wanted = wantedStamps(spec);
  const steps = order.filter((step) => mac.stamps[step] !== wanted[step]);
  const isDeferred = (step: string): boolean => needsIdle.has(step) && !idle;
  const changes = new Map<Part, Stamps>();
  for (const step of steps.filter((each) => !isDeferred(each))) {
    const part = partOf(step);
    changes.set(part, { ...changes.get(part), [step]: wanted[step] ?? '' });
  }
  return {
    changes,
    deferred: steps.filter(isDeferred).map((step) => ({ step, reason: 'the host is not idle' })),
  };
};
