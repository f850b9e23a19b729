import { agentMetricNames as names } from '@tartan/api';
import type { Clock } from '@tartan/kube/clock';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Lifetime } from '../certificates/lifetime.ts';
import type { Worthless } from '../collect/decision.ts';
import type { GuestDisk, Slots } from '../node/host-facts.ts';
import type { StartVerdict } from '../starts/evidence.ts';

export interface MacMetricsOptions {
  readonly clock: Clock;
  /** Asked whenever somebody reads the metrics. When the oldest Pod was made whose virtual machine has not started, if there is one. */
  readonly oldestWaitingSince: () => number | undefined;
  readonly pullsUnderWay: () => number;
  /** By which the Mac is known: to the API server as its client, and to those who ask the kubelet API. Undefined: it has none. */
  readonly certificates: () => Readonly<Record<'client' | 'serving', Lifetime | undefined>>;
}

export interface MacMetrics {
  /** What was found on the Mac. A guest that is not in the list any more is gone. */
  looked(found: {
    readonly slots?: Slots;
    readonly guestDisks?: readonly GuestDisk[];
    readonly vmStart?: StartVerdict;
  }): void;
  collected(why: Worthless): void;
}

const reasons: Readonly<Record<Worthless, string>> = {
  'orphan clone': 'orphan_clone',
  'stale image': 'stale_image',
  'stale golden base': 'stale_golden_base',
  'under pressure': 'pressure',
};

export const createMacMetrics = (registry: Registry, options: MacMetricsOptions): MacMetrics => {
  const { clock, oldestWaitingSince, pullsUnderWay, certificates } = options;
  const registers = [registry];
  const guestDisk = new Gauge({
    name: names.guestDiskUsagePercent,
    help: 'How full the system disk of a running virtual machine is, seen from inside',
    labelNames: ['vm'],
    registers,
  });
  const slots = new Gauge({ name: names.vmSlots, help: 'Virtual machines that may run at a time', registers });
  const taken = new Gauge({
    name: names.vmSlotsTaken,
    help: 'Virtual machines that run, whoever started them',
    registers,
  });
  const startRefused = new Gauge({
    name: names.vmStartRefused,
    help: 'Whether virtual machines do not start on this Mac: reason is starts_refused or slots_leaked. Alert on it',
    labelNames: ['reason'],
    registers,
  });
  const verdictIs = (verdict: StartVerdict): void => {
    startRefused.set({ reason: 'starts_refused' }, verdict.kind === 'refused' ? 1 : 0);
    startRefused.set({ reason: 'slots_leaked' }, verdict.kind === 'slots leaked' ? 1 : 0);
  };
  verdictIs({ kind: 'works' });
  const age = new Gauge({
    name: names.oldestWaitingPodSeconds,
    // A count of such Pods looks the same for one that waits for hours as for many that wait for a moment (INC-72).
    help: 'Age of the oldest Pod of this Mac whose virtual machine has not started. Zero when there is none: alert on it',
    registers: [],
    collect() {
      const since = oldestWaitingSince();
      this.set(since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000);
    },
  });
  const pulls = new Gauge({
    name: names.imagePullsUnderWay,
    help: 'Images that are being fetched, or wait for their turn',
    registers: [],
    collect() {
      this.set(pullsUnderWay());
    },
  });
  const certificateTime = (name: string, what: string, bound: keyof Lifetime) =>
    new Gauge({
      name,
      help: `${what} the certificate of this Mac is good: certificate is client or serving. Zero while it has none`,
      labelNames: ['certificate'],
      registers: [],
      collect() {
        for (const [certificate, lifetime] of Object.entries(certificates()))
          this.set({ certificate }, (lifetime?.[bound] ?? 0) / 1000);
      },
    });
  const notBefore = certificateTime(names.certificateStart, 'Since when', 'notBefore');
  const notAfter = certificateTime(names.certificateEnd, 'Until when', 'notAfter');
  for (const gauge of [age, pulls, notBefore, notAfter]) registry.registerMetric(gauge);
  const collected = new Counter({
    name: names.collected,
    help: 'Virtual machines and images that were deleted since nobody needed them: reason is orphan_clone, stale_image, stale_golden_base or pressure',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of Object.values(reasons)) collected.inc({ reason }, 0);
  return {
    looked: (found) => {
      if (found.slots !== undefined) {
        slots.set(found.slots.total);
        taken.set(found.slots.taken);
      }
      if (found.vmStart !== undefined) verdictIs(found.vmStart);
      if (found.guestDisks === undefined) return;
      guestDisk.reset();
      for (const { vm, usedPercent } of found.guestDisks) guestDisk.set({ vm }, usedPercent);
    },
    collected: (why) => collected.inc({ reason: reasons[why] }),
  };
};
