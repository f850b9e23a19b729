import { type Client, createInformer, createLogger, type KubeObject, type Live, type Resource } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { fleetNamespace as namespace } from './control-plane.ts';

/** Watches until it holds for the objects of a kind. False: the signal fired before. Continues after an outage of the API server. */
export const untilObjects = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  holds: (objects: readonly Live<T>[]) => boolean,
  signal: AbortSignal,
): Promise<boolean> => {
  const found = new AbortController();
  const informer = createInformer({
    client,
    clock,
    random: Math.random,
    log: createLogger({ write: () => {}, clock, level: 'error' }),
    resource,
    ...(resource.namespaced && { namespace }),
  });
  const check = (): void => {
    if (informer.hasSynced && !found.signal.aborted && holds(informer.list())) found.abort();
  };
  informer.subscribe(check);
  void informer.synced.then(check);
  await informer.run(AbortSignal.any([signal, found.signal]));
  return found.signal.aborted;
};
