import { age, ageColumn, ageOf, column, type Columns, nameColumn, nameOf, wide } from '../columns.ts';
import { list, or, text } from '../fields.ts';
import { summarizePod } from './pod-status.ts';

const readinessGates = (pod: unknown): string => {
  const gates = list(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return '<none>';
  const open = gates.filter((gate) => {
    const condition = list(pod, 'status', 'conditions').find((entry) => entry['type'] === gate['conditionType']);
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
      or(text(list(pod, 'status', 'podIPs')[0], 'ip'), '<none>'),
      or(text(pod, 'spec', 'nodeName'), '<none>'),
      or(text(pod, 'status', 'nominatedNodeName'), '<none>'),
      readinessGates(pod),
    ];
  },
  conditions: (pod) => {
    const phase = text(pod, 'status', 'phase');
    const message = Object.hasOwn(ended, phase) ? ended[phase] : undefined;
    return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }];
  },
};
