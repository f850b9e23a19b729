import type { Decision } from './decide.ts';

export interface Release {
  readonly namespace: string;
  readonly name: string;
}

const most = 10;

const counted = (names: readonly string[], one: string, several: string): readonly string[] => {
  if (names.length === 0) return [];
  const rest = names.length > most ? ` and ${names.length - most} more` : '';
  return [`  ${names.length} ${names.length === 1 ? one : several}: ${names.slice(0, most).join(', ')}${rest}`];
};

/** Why a release cannot go yet, and what to do: for whoever ran `helm uninstall`. */
export const explain = (
  { machines, hosts }: Extract<Decision, { kind: 'refuse' }>,
  { namespace, name }: Release,
): string =>
  [
    `${name} is not uninstalled: there are Macs that still need its manager.`,
    ...counted(machines, `machine in the namespace ${namespace}`, `machines in the namespace ${namespace}`),
    ...counted(hosts, 'Mac on its way back to the pool', 'Macs on their way back to the pool'),
    'Without a manager they would be left claimed and unwiped, machines would hang on their finalizers, and every Mac would go on being billed.',
    ...(machines.length > 0
      ? [
          'Give them back, and uninstall when no machine is left and no Mac is releasing:',
          `  kubectl -n ${namespace} scale machinedeployment --all --replicas 0`,
          `  kubectl -n ${namespace} get scalewayapplesiliconmachines`,
        ]
      : ['Uninstall when no Mac is releasing:']),
    '  kubectl get machosts',
    'To leave them behind on purpose:',
    `  helm uninstall ${name} --namespace ${namespace} --no-hooks`,
    'To keep the release after all, as helm takes it for uninstalling now (its last revision is in helm history):',
    `  helm rollback ${name} REVISION --namespace ${namespace}`,
    '',
  ].join('\n');
