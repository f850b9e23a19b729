import { ageColumn, ageOf, column, type Columns, nameColumn, nameOf, wide } from '../columns.ts';
import { at, list, or, text } from '../fields.ts';
import type { KubeObject } from '../../object.ts';

const rolePrefix = 'node-role.kubernetes.io/';

const roles = (node: KubeObject): string => {
  const found = Object.entries(node.metadata.labels ?? {}).map(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key.slice(rolePrefix.length);
    return key === 'kubernetes.io/role' ? value : '';
  });
  return [...new Set(found)]
    .filter((role) => role !== '')
    .sort()
    .join(',');
};

const status = (node: unknown): string => {
  const ready = list(node, 'status', 'conditions').findLast((condition) => condition['type'] === 'Ready');
  const readiness = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${readiness},SchedulingDisabled` : readiness;
};

const address = (node: unknown, type: string): string => {
  const found = list(node, 'status', 'addresses').find((entry) => entry['type'] === type);
  return found === undefined ? '<none>' : text(found, 'address');
};

const info = (node: unknown, field: string): string => text(node, 'status', 'nodeInfo', field);

const kernel = (node: unknown): string => {
  const version = or(info(node, 'kernelVersion'), '<unknown>');
  const architecture = info(node, 'architecture');
  return architecture === '' ? version : `${version} (${architecture})`;
};

export const nodes: Columns = {
  definitions: [
    nameColumn,
    column('Status'),
    column('Roles'),
    ageColumn,
    column('Version'),
    wide('Internal-IP'),
    wide('External-IP'),
    wide('OS-Image'),
    wide('Kernel-Version'),
    wide('Container-Runtime'),
  ],
  cells: (node, now) => [
    nameOf(node),
    status(node),
    or(roles(node), '<none>'),
    ageOf(node, now),
    info(node, 'kubeletVersion'),
    address(node, 'InternalIP'),
    address(node, 'ExternalIP'),
    or(info(node, 'osImage'), '<unknown>'),
    kernel(node),
    or(info(node, 'containerRuntimeVersion'), '<unknown>'),
  ],
};
