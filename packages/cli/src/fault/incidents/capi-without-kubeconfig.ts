import { externalControlPlane, secretNames } from '@tartan/api';
import { isTrue, secrets } from '@tartan/kube';
import { fleetNamespace as namespace } from '../../simulation/control-plane.ts';
import { coreKinds } from '../../simulation/fleets.ts';
import { CannotPlay, type Fault } from '../fault.ts';
import { untilAll, untilOne } from '../waiting.ts';

export const capiWithoutKubeconfig: Fault = {
  name: 'capi-without-kubeconfig',
  title:
    'Cluster API has no kubeconfig of the cluster it works in: no Machine was bound to its Node, and each deploy timed out (seed 002).',
  watch: ['kubectl get secrets,clusters,machines -w', 'kubectl get ecp -o yaml'],
  play: async (scene) => {
    const { client } = scene.simulation.controlPlane;
    const [owner] = (await client.list(externalControlPlane.resource, { namespace })).items;
    if (owner === undefined) throw new CannotPlay('There is no ExternalControlPlane: the fleets are not set up yet.');
    const name = secretNames.kubeconfig(owner.metadata.name);
    const before = await untilOne(
      scene,
      secrets,
      `there is a Secret ${name}`,
      ({ metadata }) => metadata.name === name,
    );
    await client.delete(secrets, { namespace, name });
    scene.say(`The Secret ${name} is deleted.`);
    await untilOne(
      scene,
      secrets,
      `the Secret ${name} is there again`,
      ({ metadata }) => metadata.name === name && metadata.uid !== before.metadata.uid,
    );
    scene.say(`The provider has made the Secret ${name} again, with a token of its own.`);
    await untilOne(
      scene,
      coreKinds.clusters,
      'Cluster API reaches the cluster',
      ({ metadata, status }) =>
        metadata.name === owner.metadata.name && isTrue(status?.conditions, 'RemoteConnectionProbe'),
    );
    await untilAll(scene, coreKinds.machines, 'all Machines are bound to their Nodes', (machines) =>
      machines.every(({ status }) => status?.nodeRef !== undefined),
    );
    return 'Cluster API has its kubeconfig again, and every Machine is bound to its Node. Nobody has to store or rotate it.';
  },
};
