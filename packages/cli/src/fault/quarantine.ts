import { macHost } from '@tartan/api';
import type { Host } from './cast.ts';
import type { Scene } from './fault.ts';
import { untilOne } from './waiting.ts';

/** Until the Mac is wiped and in quarantine. Answers why it is. */
export const untilQuarantined = async (scene: Scene, { server }: Host): Promise<string> => {
  const { status } = await untilOne(
    scene,
    macHost.resource,
    'the Mac is in quarantine',
    ({ metadata, spec, status: seen }) =>
      metadata.name === server.id && spec.release === undefined && seen?.state === 'quarantined',
  );
  return status?.quarantine?.reason ?? '';
};

/** What a person does with a Mac that is well again: its MacHost is forgotten, and found again by its name. */
export const endQuarantine = async (scene: Scene, { server }: Host): Promise<void> => {
  scene.say(`A person who has looked at the Mac ends its quarantine: kubectl delete machost ${server.id}`);
  await scene.simulation.controlPlane.client.delete(macHost.resource, { name: server.id });
  await untilOne(
    scene,
    macHost.resource,
    'the Mac is in the pool',
    ({ metadata, status }) => metadata.name === server.id && status?.state === 'pool',
  );
};
