import { microTimestamp, timestamp } from '@tartan/kube/clock';
import { controllerManager } from '../../authentication/user.ts';
import { ApiError } from '../../errors/api-error.ts';
import { copy, type KubeObject } from '../../object.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';
import { newObject } from './objects.ts';

/** The object of an Event. */
export interface Reference {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
}

interface EventFields {
  regarding: Reference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

export interface Recorder {
  /** An Event in the core/v1 form: count, first and last time. A repetition raises the count. */
  record(fields: EventFields): void;
  /** An Event in the events.k8s.io form: an action at one time. */
  recordAction(fields: EventFields, action: string): void;
}

/** How many Events are cached to raise their count. */
const maxCachedEvents = 1000;

export const referenceTo = (object: KubeObject): Reference => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid: object.metadata.uid,
  resourceVersion: object.metadata.resourceVersion,
  ...(object.metadata.namespace ? { namespace: object.metadata.namespace } : {}),
});

/** Records Events of one component. Best effort: an Event that cannot be written is dropped. */
export const eventRecorder = (api: LoopbackClient, component: string): Recorder => {
  const written = new Map<string, string>();
  let serial = 0;

  const blank = ({ regarding, type, reason, message }: EventFields): KubeObject => {
    const nanoseconds = BigInt(api.clock.now()) * 1_000_000n + BigInt(serial++ % 1_000_000);
    const name = `${regarding.name}.${nanoseconds.toString(16)}`;
    return newObject(
      'v1',
      'Event',
      { name, namespace: regarding.namespace ?? 'default' },
      { involvedObject: { ...regarding }, reason, message, type, reportingComponent: component },
    );
  };

  const create = (event: KubeObject): KubeObject | undefined => {
    const events = api.find('', 'events');
    if (!events) return undefined;
    try {
      return api.create(events, event.metadata.namespace ?? '', event, controllerManager);
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  };

  /** Raises the count of an earlier Event; false if there is none. */
  const countUp = (key: string, namespace: string): boolean => {
    const events = api.find('', 'events');
    const name = written.get(key);
    const old = events && name !== undefined ? api.get(events, namespace, name) : undefined;
    if (!events || !old) return false;
    const again = copy(old);
    again['count'] = Number(old['count'] ?? 1) + 1;
    again['lastTimestamp'] = timestamp(api.clock.now());
    api.update(events, namespace, again, controllerManager);
    return true;
  };

  return {
    record: (fields) => {
      const { kind, name, namespace, uid } = fields.regarding;
      const key = JSON.stringify([kind, namespace, name, uid, fields.type, fields.reason, fields.message]);
      if (countUp(key, namespace ?? 'default')) return;
      const at = timestamp(api.clock.now());
      const event = create({
        ...blank(fields),
        source: { component },
        firstTimestamp: at,
        lastTimestamp: at,
        count: 1,
        eventTime: null,
        reportingInstance: '',
      });
      if (!event) return;
      written.delete(key);
      written.set(key, event.metadata.name);
      const [oldest] = written.keys();
      if (written.size > maxCachedEvents && oldest !== undefined) written.delete(oldest);
    },
    recordAction: (fields, action) => {
      create({
        ...blank(fields),
        action,
        source: {},
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: microTimestamp(api.clock.now()),
        reportingInstance: `${component}-sim`,
      });
    },
  };
};
