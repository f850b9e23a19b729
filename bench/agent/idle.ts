import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../figure.ts';
import type { Cluster } from './cluster.ts';
import type { BenchMac } from './mac.ts';

export interface Idle {
  /** MB. */
  readonly resident: number;
  readonly most: number;
  readonly requestsPerMinute: number;
  /** Each request, and how often it was sent. */
  readonly requests: readonly (readonly [what: string, count: number])[];
}

/** The agent asks about deleted Pods for two minutes. */
const settleSeconds = 130;
const idleSeconds = 150;
const lookEverySeconds = 5;

/** Lets the agent idle for some minutes. */
export const measureIdle = async (mac: BenchMac, cluster: Cluster): Promise<Idle> => {
  await Promise.race([sleep(settleSeconds * 1000), mac.broken]);
  const before = (await cluster.requests()).length;
  const resident: number[] = [];
  for (let second = 0; second < idleSeconds; second += lookEverySeconds) {
    await Promise.race([sleep(lookEverySeconds * 1000), mac.broken]);
    resident.push(mac.resident());
  }
  const asked = (await cluster.requests()).slice(before);
  const counts = new Map<string, number>();
  for (const request of asked) {
    const what = request.replace(/\?.*/, '');
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return {
    resident: median(resident),
    most: Math.max(...resident),
    requestsPerMinute: (asked.length / idleSeconds) * 60,
    requests: [...counts].toSorted(([, a], [, b]) => b - a),
  };
};
