import { aligned } from '../aligned.ts';
import { age } from '../show/age.ts';
import type { Fate } from './let-go.ts';

/** One Pod as scripts read it. */
export interface PodReport {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string | null;
  readonly deletionTimestamp: string;
  readonly fate: Fate['kind'];
  readonly why: string;
}

export const reportOf = (fate: Fate): PodReport => {
  const { metadata, spec } = fate.stuck.pod;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    node: spec?.nodeName ?? null,
    deletionTimestamp: metadata.deletionTimestamp ?? '',
    fate: fate.kind,
    why: whyOf(fate),
  };
};

const whyOf = (fate: Fate): string => {
  switch (fate.kind) {
    case 'failed':
      return fate.why;
    case 'let go':
      return fate.heldBy.length === 0
        ? causeOf(fate)
        : `${causeOf(fate)}; it still waits for others: ${fate.heldBy.join(', ')}`;
    case 'went by itself':
      return 'it is gone, or its agent has let it go meanwhile';
    case 'would let go':
    case 'left':
      return causeOf(fate);
  }
};

const causeOf = ({ stuck: { decision, node } }: Fate): string => {
  switch (decision.kind) {
    case 'release':
      return decision.because === 'nodeGone' ? 'its Node is gone' : 'it never had a Node';
    case 'wait':
      return `it should have ended less than 5 minutes ago; wait ${Math.ceil(decision.forMs / 1000)} s`;
    case 'leave':
      return node.kind === 'there' && !node.ready
        ? 'its Node is there but not Ready: the VM may still run, and its agent lets it go when it is back; if the Mac is lost, delete its Machine'
        : 'its Node is there: its agent removes the VM and lets it go';
  }
};

/** For people. */
export const podTable = (reports: readonly PodReport[], now: number): string[] =>
  reports.length === 0
    ? []
    : aligned([
        ['NAMESPACE', 'NAME', 'NODE', 'TERMINATING', 'WHAT', 'WHY'],
        ...reports.map(({ namespace, name, node, deletionTimestamp, fate, why }) => [
          namespace,
          name,
          node ?? '<none>',
          age(now - Date.parse(deletionTimestamp)),
          fate,
          why,
        ]),
      ]);
