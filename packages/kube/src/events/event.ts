import { createHash } from 'node:crypto';
import type { KubeObject } from '../objects/object.ts';

/** Which object an event is about: `involvedObject`. */
export interface InvolvedObject {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
}

/** What a controller reports about an object. */
export interface EventInput {
  type: 'Normal' | 'Warning';
  /** A constant in UpperCamelCase, to filter `kubectl get events` by. */
  reason: string;
  message: string;
}

/** Undefined when the object has no apiVersion, kind or name. */
export const involvedObjectOf = ({ apiVersion, kind, metadata }: KubeObject): InvolvedObject | undefined => {
  const name = metadata?.name;
  if (!apiVersion || !kind || !name) return undefined;
  const { namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace ? { namespace } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  };
};

/** Truncates to that many bytes of UTF-8, never within a character. */
export const truncate = (text: string, bytes: number): string => {
  if (Buffer.byteLength(text) <= bytes) return text.toWellFormed();
  const target = new Uint8Array(bytes - 3);
  const { read } = new TextEncoder().encodeInto(text, target);
  return `${text.slice(0, read).toWellFormed()}…`;
};

/** Same for all versions of an object, different for any two objects. */
export const objectKey = ({ apiVersion, kind, namespace = '', name, uid = '' }: InvolvedObject): string =>
  JSON.stringify([apiVersion, kind, namespace, name, uid]);

/** A unique event name: `instance` differs between processes, `sequence` within one process. */
export const eventName = (involved: InvolvedObject, instance: string, now: number, sequence: number): string => {
  const process = createHash('sha256').update(instance).digest('hex').slice(0, 8);
  const suffix = `.${now.toString(16)}${process}${sequence.toString(16)}`;
  // Some object names are invalid for an event, such as the role `system:node`.
  const base = involved.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, 253 - suffix.length)
    .replaceAll(/^[.-]+|[.-]+$/g, '')
    .replaceAll(/[.-]*\.[.-]*/g, '.');
  return `${base || 'event'}${suffix}`;
};
