import { randomBytes } from 'node:crypto';
import { type Live, nodes, isKubeError, pods } from '@tartan/kube';
import { fleetNamespace as namespace } from '../simulation/control-plane.ts';
import { demoPod } from '../up/demo-pod.ts';
import type { Scene } from './fault.ts';
import { untilGone, untilOne } from './waiting.ts';

type Pod = Live<NonNullable<(typeof pods)['ofType']>>;

/** A Pod of a play, which goes with it. */
export interface PlayedPod {
  readonly name: string;
  /** `what` completes "until the Pod". */
  until(what: string, holds: (pod: Pod) => boolean): Promise<Pod>;
  /** And its Mac can be asked for it. */
  untilRunning(): Promise<Pod>;
  remove(): Promise<void>;
}

/** On that very Mac. */
export const runPod = async (scene: Scene, nodeName: string): Promise<PlayedPod> => {
  const { client } = scene.simulation.controlPlane;
  const name = `job-${randomBytes(2).toString('hex')}`;
  const wanted = demoPod(name);
  await client.create(pods, { ...wanted, spec: { ...wanted.spec, nodeName } });
  scene.say(`The Pod ${name} is created for ${nodeName}.`);
  const until: PlayedPod['until'] = (what, holds) =>
    untilOne(scene, pods, `the Pod ${name} ${what}`, (pod) => pod.metadata.name === name && holds(pod));
  return {
    name,
    until,
    untilRunning: async () => {
      const pod = await until('runs', ({ status }) => status?.phase === 'Running');
      await untilOne(
        scene,
        nodes,
        `the kubelet API of ${nodeName} is served`,
        ({ metadata, status }) =>
          metadata.name === nodeName && (status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) > 0,
      );
      return pod;
    },
    remove: async () => {
      await client.delete(pods, { namespace, name }).catch((error: unknown) => {
        if (!isKubeError(error, 'notFound')) throw error;
      });
      if (!scene.signal.aborted) await untilGone(scene, pods, name);
    },
  };
};
