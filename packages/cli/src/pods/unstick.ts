import type { Writable } from 'node:stream';
import type { Cluster } from '../cluster/connection.ts';
import { ageSince } from '../output/age.ts';
import type { Table } from '../output/table.ts';
import { counted, createStatusLine } from '../output/terminal-text.ts';
import { pageLines, writeOutput } from '../output/view.ts';
import { findStuck, type ReleaseOutcome, releasePods, type Selection, type StuckPod } from './release-stuck-pods.ts';

export interface UnstickOptions extends Selection {
  /** False: a dry run. */
  readonly apply: boolean;
  readonly output: 'table' | 'json';
}

export interface UnstickOutput {
  readonly stdout: Writable;
  /** For the progress. */
  readonly stderr: Writable & { isTTY?: boolean };
}

const nothingLeft = 0;
const somethingLeft = 1;

/** Finds Terminating Pods whose Node is gone, and removes the finalizer of the agent. Returns the exit code. */
export const unstick = async (
  options: UnstickOptions,
  cluster: Cluster,
  { stdout, stderr }: UnstickOutput,
  signal: AbortSignal,
): Promise<number> => {
  const stuck = await findStuck(cluster, options, { signal });
  const outcomes = options.apply ? await releaseChosen(cluster, stuck, stderr, signal) : stuck.map(plannedOutcome);
  const reports = outcomes.map(reportOf);
  const counts = countsOf(outcomes);
  const page = { tables: [podTable(reports, cluster.clock.now())], lines: [conclusion(counts, outcomes.length)] };
  writeOutput({ stdout }, options.output, { applied: options.apply, counts, pods: reports }, () =>
    pageLines(page, undefined, { colours: false }),
  );
  return counts['would release'] + counts.failed === 0 ? nothingLeft : somethingLeft;
};

const plannedOutcome = (stuck: StuckPod): ReleaseOutcome => ({
  kind: stuck.decision.kind === 'release' ? 'would release' : 'left',
  stuck,
});

const releaseChosen = async (
  cluster: Cluster,
  stuck: readonly StuckPod[],
  stderr: UnstickOutput['stderr'],
  signal: AbortSignal,
): Promise<ReleaseOutcome[]> => {
  const chosen = stuck.filter(({ decision }) => decision.kind === 'release');
  const total = chosen.length;
  const status = createStatusLine(stderr);
  const onProgress = (done: number): void => {
    const text = `${done} of ${total} Pods`;
    status.show(text);
    // A log gets about ten lines.
    if (stderr.isTTY !== true && total > 10 && done % Math.ceil(total / 10) === 0) stderr.write(`${text}\n`);
  };
  const outcomes = await releasePods(cluster, chosen, onProgress, { signal });
  status.clear();
  const byUID = new Map(outcomes.map((outcome) => [outcome.stuck.pod.metadata.uid, outcome]));
  return stuck.map((each) => byUID.get(each.pod.metadata.uid) ?? plannedOutcome(each));
};

const outcomeKinds = ['would release', 'released', 'already gone', 'left', 'failed'] as const;

/** The text after a number of Pods. */
const outcomeSummaries: Readonly<Record<ReleaseOutcome['kind'], string>> = {
  'would release': 'would be released',
  released: 'released',
  'already gone': 'already gone',
  left: 'left alone',
  failed: 'failed',
};

type Counts = Readonly<Record<ReleaseOutcome['kind'], number>>;

const countsOf = (outcomes: readonly ReleaseOutcome[]): Counts => {
  const counts = { 'would release': 0, released: 0, 'already gone': 0, left: 0, failed: 0 };
  for (const { kind } of outcomes) counts[kind] += 1;
  return counts;
};

const conclusion = (counts: Counts, total: number): string => {
  if (total === 0) return 'No Pod is stuck: none is Terminating and held by an agent.';
  const parts = outcomeKinds
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counted(counts[kind], 'Pod')} ${outcomeSummaries[kind]}`);
  const next =
    counts['would release'] > 0
      ? ' Nothing was changed. --apply releases them.'
      : counts.failed > 0
        ? ' Fix the cause, then run the command again.'
        : '';
  return `${parts.join(', ')}.${next}`;
};

/** One Pod in `-o json`. */
const reportOf = (outcome: ReleaseOutcome) => {
  const { metadata, spec } = outcome.stuck.pod;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    node: spec?.nodeName ?? null,
    deletionTimestamp: metadata.deletionTimestamp ?? '',
    outcome: outcome.kind,
    why: whyOf(outcome),
  };
};

const whyOf = (outcome: ReleaseOutcome): string => {
  switch (outcome.kind) {
    case 'failed':
      return outcome.why;
    case 'released':
      return outcome.heldBy.length === 0
        ? causeOf(outcome)
        : `${causeOf(outcome)}; other finalizers remain: ${outcome.heldBy.join(', ')}`;
    case 'already gone':
      return 'the Pod is gone, or its agent has released it meanwhile';
    case 'would release':
    case 'left':
      return causeOf(outcome);
  }
};

const causeOf = ({ stuck: { decision, node } }: ReleaseOutcome): string => {
  switch (decision.kind) {
    case 'release':
      return decision.reason === 'nodeGone' ? 'its Node is gone' : 'it never had a Node';
    case 'wait':
      return `its grace period ended less than 5 minutes ago; wait ${Math.ceil(decision.forMs / 1000)} s`;
    case 'skip':
      return node.ready === false
        ? 'its Node exists but is not Ready: the VM may still run, and the agent releases the Pod when it is back; if the Mac is lost, delete its Machine'
        : 'its Node exists: the agent removes the VM and releases the Pod';
  }
};

const podTable = (reports: readonly ReturnType<typeof reportOf>[], now: number): Table => ({
  head: ['NAMESPACE', 'NAME', 'NODE', 'TERMINATING', 'WHAT', 'WHY'],
  rows: reports.map(({ namespace, name, node, deletionTimestamp, outcome, why, uid: key }) => ({
    key,
    cells: [namespace, name, node ?? '<none>', ageSince(deletionTimestamp, now), outcome, why],
  })),
});
