import { machine } from '@tartan/api';
import { deploymentOf, fleetNamespace, type HostKind, type Simulation } from '@tartan/sim-fleet';
import type { SuggestedCommand } from './live/up-view.ts';

/** What to try while the fleet runs. */
export const suggestedCommands = async (
  { controlPlane, folder, runners }: Simulation,
  pod: string,
  hosts: HostKind,
): Promise<SuggestedCommand[]> => {
  const { items } = await controlPlane.client.list(machine.resource, { namespace: fleetNamespace });
  const name = items.find(({ status }) => status?.ready === true)?.metadata.name ?? 'NAME';
  return [
    { command: `export KUBECONFIG=${controlPlane.kubeconfig}` },
    { command: 'npm run tartan -- fleet --watch', comment: 'machines, Macs, Nodes and virtual machines' },
    { command: `npm run tartan -- explain ${name}`, comment: 'its state, the reason, and what you can do' },
    ...(hosts === 'simulated'
      ? [
          {
            command: `kubectl exec -it ${pod} -- sh`,
            comment: 'a shell in the virtual machine; logs -f and cp work too',
          },
        ]
      : []),
    ...(runners
      ? [
          { command: 'npm run tartan -- runners macos', comment: 'runners of GitHub: idle, busy, and the job queue' },
          { command: 'npm run tartan -- fault queue-jobs', comment: 'queue more jobs than there are runners' },
        ]
      : []),
    {
      command: `kubectl scale md ${deploymentOf('runners')} --replicas=${hosts === 'simulated' ? 2 : 1}`,
      comment: 'claims another Mac, or releases one',
    },
    ...(hosts === 'simulated'
      ? [{ command: 'npm run tartan -- fault list', comment: 'incidents of the past that you can replay' }]
      : []),
    { command: `tail -f ${folder}/*.log`, comment: 'logs of the provider and the other controllers' },
  ];
};
