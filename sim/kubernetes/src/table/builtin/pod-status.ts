import { at, count, type Fields, fields, list, or, text } from '../fields.ts';

/** What the STATUS, READY and RESTARTS columns say. Pure policy: the order of the rules is what matters. */
export interface PodSummary {
  status: string;
  ready: number;
  total: number;
  restarts: number;
  /** Of the last container that was restarted; empty if none was. */
  lastRestart: string;
}

interface Restarts {
  count: number;
  last: string;
}

const conditionIs = (pod: unknown, type: string, status: string): boolean =>
  list(pod, 'status', 'conditions').some((entry) => entry['type'] === type && entry['status'] === status);

const isInitialized = (pod: unknown): boolean => {
  const condition = list(pod, 'status', 'conditions').find((entry) => entry['type'] === 'Initialized');
  return condition?.['status'] === 'True';
};

const later = (a: string, b: string): string => (Date.parse(b) > (Date.parse(a) || 0) ? b : a);

const withRestarts = (sum: Restarts, container: Fields): Restarts => ({
  count: sum.count + count(container, 'restartCount'),
  last: later(sum.last, text(container, 'lastState', 'terminated', 'finishedAt')),
});

const none: Restarts = { count: 0, last: '' };

/** Why a container ended, if it did not say so itself: `Signal:9`, `ExitCode:1`. */
const ending = (container: Fields): string => {
  const terminated = fields(container, 'state', 'terminated');
  const signal = count(terminated, 'signal');
  return or(
    text(terminated, 'reason'),
    signal === 0 ? `ExitCode:${count(terminated, 'exitCode')}` : `Signal:${signal}`,
  );
};

const isTerminated = (container: Fields): boolean => at(container, 'state', 'terminated') !== undefined;
const exitedWith = (container: Fields): number => count(container, 'state', 'terminated', 'exitCode');
const waitingFor = (container: Fields): string => text(container, 'state', 'waiting', 'reason');

/** An init container that stays: a sidecar. */
const sidecars = (pod: unknown): Set<string> =>
  new Set(
    list(pod, 'spec', 'initContainers')
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => text(container, 'name')),
  );

interface Initialization {
  /** Undefined once all init containers are through. */
  status: string | undefined;
  ready: number;
  restarts: Restarts;
  sidecarRestarts: Restarts;
}

const initialization = (pod: unknown): Initialization => {
  const staying = sidecars(pod);
  const total = list(pod, 'spec', 'initContainers').length;
  let restarts = none;
  let sidecarRestarts = none;
  let ready = 0;
  const result = (status: string | undefined): Initialization => ({ status, ready, restarts, sidecarRestarts });
  for (const [index, container] of list(pod, 'status', 'initContainerStatuses').entries()) {
    const isSidecar = staying.has(text(container, 'name'));
    restarts = withRestarts(restarts, container);
    if (isSidecar) sidecarRestarts = withRestarts(sidecarRestarts, container);
    if (isTerminated(container) && exitedWith(container) === 0) continue;
    if (isSidecar && container['started'] === true) {
      if (container['ready'] === true) ready += 1;
      continue;
    }
    if (isTerminated(container)) return result(`Init:${ending(container)}`);
    const waiting = waitingFor(container);
    return result(waiting === '' || waiting === 'PodInitializing' ? `Init:${index}/${total}` : `Init:${waiting}`);
  }
  return result(undefined);
};

interface Run {
  status: string;
  ready: number;
  restarts: Restarts;
}

/** The first container has the last word; a failure is remembered behind a `Completed`. */
const running = (pod: unknown, otherwise: string, before: Restarts): Run => {
  let status = otherwise;
  let failure = '';
  let ready = 0;
  let restarts = before;
  for (const container of list(pod, 'status', 'containerStatuses').reverse()) {
    restarts = withRestarts(restarts, container);
    if (waitingFor(container) !== '') {
      status = waitingFor(container);
    } else if (isTerminated(container)) {
      status = ending(container);
      if (exitedWith(container) !== 0) failure = status;
    } else if (container['ready'] === true && at(container, 'state', 'running') !== undefined) {
      ready += 1;
    }
  }
  if (status !== 'Completed') return { status, ready, restarts };
  if (ready > 0 && conditionIs(pod, 'Ready', 'True')) status = 'Running';
  else if (failure !== '') status = failure;
  else if (ready > 0) status = 'NotReady';
  return { status, ready, restarts };
};

const isGated = (pod: unknown): boolean =>
  list(pod, 'status', 'conditions').some(
    (entry) => entry['type'] === 'PodScheduled' && entry['reason'] === 'SchedulingGated',
  );

const deletion = (pod: unknown): string | undefined => {
  if (text(pod, 'metadata', 'deletionTimestamp') === '') return undefined;
  if (text(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(text(pod, 'status', 'phase')) ? undefined : 'Terminating';
};

export const summarizePod = (pod: unknown): PodSummary => {
  const outset = isGated(pod) ? 'SchedulingGated' : or(text(pod, 'status', 'reason'), text(pod, 'status', 'phase'));
  const init = initialization(pod);
  const total = list(pod, 'spec', 'containers').length + sidecars(pod).size;
  const run: Run =
    init.status === undefined || isInitialized(pod)
      ? running(pod, init.status ?? outset, init.sidecarRestarts)
      : { status: init.status, ready: 0, restarts: init.restarts };
  return {
    status: deletion(pod) ?? run.status,
    ready: init.ready + run.ready,
    total,
    restarts: run.restarts.count,
    lastRestart: run.restarts.last,
  };
};
