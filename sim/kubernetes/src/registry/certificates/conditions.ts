import { timestamp } from '@tartan/kube/clock';
import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { isObject, type KubeObject } from '../../object.ts';

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

const field = 'status.conditions';
/** These record that something has happened, so they are true or absent. */
const irrevocableTypes = ['Approved', 'Denied', 'Failed'];

export const statusOf = (csr: KubeObject): Record<string, unknown> => (isObject(csr['status']) ? csr['status'] : {});

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const conditionsOf = (csr: KubeObject): Condition[] => {
  const { conditions } = statusOf(csr);
  if (!Array.isArray(conditions)) return [];
  return conditions
    .filter(isObject)
    .map((entry) => ({ ...entry, type: text(entry['type']), status: text(entry['status']) }));
};

export const hasCondition = (csr: KubeObject, type: string): boolean =>
  conditionsOf(csr).some((entry) => entry.type === type);

const statusCauses = ({ type, status }: Condition, index: number): Cause[] => {
  const path = `${field}[${index}].status`;
  const allowed = irrevocableTypes.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
  if (status === '') return [required(path)];
  return allowed.includes(status) ? [] : [notSupported(path, status, allowed)];
};

/** Checks each condition, and against the earlier ones. */
export const conditionCauses = (csr: KubeObject): Cause[] =>
  conditionsOf(csr).flatMap((condition, index, all) => {
    const before = all.slice(0, index).map(({ type }) => type);
    const opposite = { Approved: 'Denied', Denied: 'Approved' }[condition.type];
    return [
      ...(condition.type === '' ? [required(`${field}[${index}].type`)] : []),
      ...statusCauses(condition, index),
      ...(opposite !== undefined && before.includes(opposite)
        ? [invalid(field, condition.type, 'Approved and Denied conditions are mutually exclusive')]
        : []),
      ...(before.includes(condition.type) ? [duplicate(`${field}[${index}].type`, condition.type)] : []),
    ];
  });

const count = (csr: KubeObject, type: string): number =>
  conditionsOf(csr).filter((entry) => entry.type === type).length;

/** These conditions cannot be removed, and only the approval endpoint may add Approved or Denied. */
export const conditionUpdateCauses = (csr: KubeObject, old: KubeObject, mayApprove: boolean): Cause[] => {
  const removed = irrevocableTypes.filter((type) => count(csr, type) < count(old, type));
  const added = mayApprove ? [] : ['Approved', 'Denied'].filter((type) => count(csr, type) > count(old, type));
  return [
    ...removed.map((type) => forbidden(field, `updates may not remove a condition of type "${type}"`)),
    ...added.map((type) => forbidden(field, `updates may not add a condition of type "${type}"`)),
  ];
};

/** Sets missing times; lastTransitionTime is that of the same condition before, if there was one. */
export const setConditionTimes = (csr: KubeObject, old: KubeObject, now: number): Condition[] => {
  const before = conditionsOf(old);
  return conditionsOf(csr).map((condition) => {
    const same = before.find(({ type, status }) => type === condition.type && status === condition.status);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? timestamp(now),
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? timestamp(now),
    };
  });
};

/** Restores approvals and denials, if their number is unchanged: `/status` cannot change them. */
export const keepApproval = (conditions: Condition[], old: KubeObject): Condition[] =>
  ['Approved', 'Denied'].reduce((list, type) => {
    const kept = conditionsOf(old).filter((entry) => entry.type === type);
    if (list.filter((entry) => entry.type === type).length !== kept.length) return list;
    let next = 0;
    return list.map((entry) => (entry.type === type ? (kept[next++] ?? entry) : entry));
  }, conditions);
