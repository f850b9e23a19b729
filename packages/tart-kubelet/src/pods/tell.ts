import { type EventReason, events } from '@tartan/api';
import type { EventRecorder } from '@tartan/kube';
import type { Pod } from './snapshot.ts';

/** An event on a Pod, with the type that belongs to its reason. */
export const tell = (recorder: Pick<EventRecorder, 'event'>, pod: Pod, reason: EventReason, message: string): void =>
  recorder.event({ ...pod, apiVersion: 'v1', kind: 'Pod' }, { type: events[reason][0], reason, message });
