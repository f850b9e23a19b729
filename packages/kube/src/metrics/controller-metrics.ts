import type { ReconcileObserver } from '../controller/reconcile.ts';
import { Counter, Gauge, Histogram, type Registry } from './prometheus.ts';

/** Exactly controller-runtime's buckets: existing dashboards and alerts use them. */
const secondsBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** `requeue` is never counted (reconciles return `requeueAfter`), but dashboards expect the series. */
const results = ['success', 'error', 'requeue', 'requeue_after'] as const;

export const createControllerMetrics = (registry: Registry): ((controller: string) => ReconcileObserver) => {
  const registers = [registry];
  const labelNames = ['controller'] as const;
  const counter = (name: string, help: string): Counter<'controller'> =>
    new Counter({ name, help, labelNames, registers });
  const total = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Passes per controller and result',
    labelNames: ['controller', 'result'],
    registers,
  });
  const errors = counter('controller_runtime_reconcile_errors_total', 'Passes that failed');
  const terminal = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Failed passes that are not tried again',
  );
  const panics = counter('controller_runtime_reconcile_panics_total', 'Passes that ended with a programming mistake');
  const timeouts = counter(
    'controller_runtime_reconcile_timeouts_total',
    'Passes whose time was over before they ended',
  );
  const seconds = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long passes take',
    labelNames,
    buckets: secondsBuckets,
    registers,
  });
  const gauge = (name: string, help: string): Gauge<'controller'> => new Gauge({ name, help, labelNames, registers });
  const maximum = gauge('controller_runtime_max_concurrent_reconciles', 'Workers per controller');
  const active = gauge('controller_runtime_active_workers', 'Workers with a pass under way');

  return (controller) => {
    const labels = { controller };
    return {
      started: (workers) => {
        for (const result of results) total.inc({ controller, result }, 0);
        for (const zero of [errors, terminal, panics, timeouts]) zero.inc(labels, 0);
        maximum.set(labels, workers);
        active.inc(labels, 0);
      },
      began: () => active.inc(labels),
      ended: (summary) => {
        active.dec(labels);
        if (!summary) return;
        seconds.observe(labels, summary.seconds);
        total.inc({ controller, result: summary.result });
        if (summary.result === 'error') errors.inc(labels);
        if (summary.terminal) terminal.inc(labels);
        if (summary.defect) panics.inc(labels);
      },
    };
  };
};
