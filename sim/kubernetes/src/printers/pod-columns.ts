import {
  type Fields,
  nestedField,
  nestedMap,
  nestedMaps,
  nestedNumber,
  nestedString,
  orElse,
} from '../unstructured.ts';
import { age, ageColumn, ageOf, column, type Columns, nameColumn, nameOf, wide } from './columns.ts';

/** The STATUS, READY and RESTARTS columns. The order of the rules matters. */
interface PodSummary {
  status: string;
  ready: number;
  total: number;
  restarts: number;
  /** Of the last container that restarted; empty if none did. */
  lastRestart: string;
}

interface Restarts {
  count: number;
  last: string;
}

const conditionIs = (pod: unknown, type: string, status: string): boolean =>
  nestedMaps(pod, 'status', 'conditions').some((entry) => entry['type'] === type && entry['status'] === status);

const isInitialized = (pod: unknown): boolean => {
  const condition = nestedMaps(pod, 'status', 'conditions').find((entry) => entry['type'] === 'Initialized');
  return condition?.['status'] === 'True';
};

const latest = (a: string, b: string): string => (Date.parse(b) > (Date.parse(a) || 0) ? b : a);

const withRestarts = (sum: Restarts, container: Fields): Restarts => ({
  count: sum.count + nestedNumber(container, 'restartCount'),
  last: latest(sum.last, nestedString(container, 'lastState', 'terminated', 'finishedAt')),
});

const none: Restarts = { count: 0, last: '' };

/** Why a container ended, if it has no reason: `Signal:9`, `ExitCode:1`. */
const terminationReason = (container: Fields): string => {
  const terminated = nestedMap(container, 'state', 'terminated');
  const signal = nestedNumber(terminated, 'signal');
  return orElse(
    nestedString(terminated, 'reason'),
    signal === 0 ? `ExitCode:${nestedNumber(terminated, 'exitCode')}` : `Signal:${signal}`,
  );
};

const isTerminated = (container: Fields): boolean => nestedField(container, 'state', 'terminated') !== undefined;
const exitedWith = (container: Fields): number => nestedNumber(container, 'state', 'terminated', 'exitCode');
const waitingFor = (container: Fields): string => nestedString(container, 'state', 'waiting', 'reason');

/** Init containers that keep running. */
const sidecars = (pod: unknown): Set<string> =>
  new Set(
    nestedMaps(pod, 'spec', 'initContainers')
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => nestedString(container, 'name')),
  );

interface Initialization {
  /** Undefined once all init containers are done. */
  status: string | undefined;
  ready: number;
  restarts: Restarts;
  sidecarRestarts: Restarts;
}

const initialization = (pod: unknown): Initialization => {
  const staying = sidecars(pod);
  const total = nestedMaps(pod, 'spec', 'initContainers').length;
  let restarts = none;
  let sidecarRestarts = none;
  let ready = 0;
  const result = (status: string | undefined): Initialization => ({ status, ready, restarts, sidecarRestarts });
  for (const [index, container] of nestedMaps(pod, 'status', 'initContainerStatuses').entries()) {
    const isSidecar = staying.has(nestedString(container, 'name'));
    restarts = withRestarts(restarts, container);
    if (isSidecar) sidecarRestarts = withRestarts(sidecarRestarts, container);
    if (isTerminated(container) && exitedWith(container) === 0) continue;
    if (isSidecar && container['started'] === true) {
      if (container['ready'] === true) ready += 1;
      continue;
    }
    if (isTerminated(container)) return result(`Init:${terminationReason(container)}`);
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

/** The first container decides; an earlier failure takes precedence over `Completed`. */
const running = (pod: unknown, otherwise: string, before: Restarts): Run => {
  let status = otherwise;
  let failure = '';
  let ready = 0;
  let restarts = before;
  for (const container of nestedMaps(pod, 'status', 'containerStatuses').reverse()) {
    restarts = withRestarts(restarts, container);
    if (waitingFor(container) !== '') {
      status = waitingFor(container);
    } else if (isTerminated(container)) {
      status = terminationReason(container);
      if (exitedWith(container) !== 0) failure = status;
    } else if (container['ready'] === true && nestedField(container, 'state', 'running') !== undefined) {
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
  nestedMaps(pod, 'status', 'conditions').some(
    (entry) => entry['type'] === 'PodScheduled' && entry['reason'] === 'SchedulingGated',
  );

const deletion = (pod: unknown): string | undefined => {
  if (nestedString(pod, 'metadata', 'deletionTimestamp') === '') return undefined;
  if (nestedString(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(nestedString(pod, 'status', 'phase')) ? undefined : 'Terminating';
};

const summarizePod = (pod: unknown): PodSummary => {
  const outset = isGated(pod)
    ? 'SchedulingGated'
    : orElse(nestedString(pod, 'status', 'reason'), nestedString(pod, 'status', 'phase'));
  const init = initialization(pod);
  const total = nestedMaps(pod, 'spec', 'containers').length + sidecars(pod).size;
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

const readinessGates = (pod: unknown): string => {
  const gates = nestedMaps(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return '<none>';
  const open = gates.filter((gate) => {
    const condition = nestedMaps(pod, 'status', 'conditions').find((entry) => entry['type'] === gate['conditionType']);
    return condition?.['status'] === 'True';
  });
  return `${open.length}/${gates.length}`;
};

const ended: Record<string, string> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

export const pods: Columns = {
  definitions: [
    nameColumn,
    column('Ready'),
    column('Status'),
    column('Restarts'),
    ageColumn,
    wide('IP'),
    wide('Node'),
    wide('Nominated Node'),
    wide('Readiness Gates'),
  ],
  cells: (pod, now) => {
    const { status, ready, total, restarts, lastRestart } = summarizePod(pod);
    return [
      nameOf(pod),
      `${ready}/${total}`,
      status,
      restarts === 0 || lastRestart === '' ? `${restarts}` : `${restarts} (${age(lastRestart, now)} ago)`,
      ageOf(pod, now),
      orElse(nestedString(nestedMaps(pod, 'status', 'podIPs')[0], 'ip'), '<none>'),
      orElse(nestedString(pod, 'spec', 'nodeName'), '<none>'),
      orElse(nestedString(pod, 'status', 'nominatedNodeName'), '<none>'),
      readinessGates(pod),
    ];
  },
  conditions: (pod) => {
    const phase = nestedString(pod, 'status', 'phase');
    const message = Object.hasOwn(ended, phase) ? ended[phase] : undefined;
    return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
  },
};
