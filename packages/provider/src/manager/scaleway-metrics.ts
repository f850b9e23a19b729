import { metricNames } from '@tartan/api';
import { type CallReport, operations } from '@tartan/scaleway';
import { Counter, Histogram, type Registry } from 'prom-client';

/** A request has 15 s at most. */
const secondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Outcomes that do not pass by themselves. */
const needAPerson = ['denied', 'unauthorized'] as const;

/** For `onCall` of the pool: each page and each try is a request of its own. */
export const createScalewayMetrics = (registry: Registry): ((report: CallReport) => void) => {
  const registers = [registry];
  const requests = new Counter({
    name: metricNames.scalewayRequests,
    help: 'Requests to Scaleway. Outcomes other than ok are reasons why one was not done: denied and unauthorized need a person, rate_limited and unavailable pass.',
    labelNames: ['operation', 'outcome'],
    registers,
  });
  // From the start and at zero, or nobody sees the first one: a series that begins at 1 has not grown.
  for (const operation of Object.keys(operations))
    for (const outcome of needAPerson) requests.inc({ operation, outcome }, 0);
  const seconds = new Histogram({
    name: metricNames.scalewayRequestSeconds,
    help: 'How long Scaleway took to answer, whatever it answered.',
    labelNames: ['operation'],
    buckets: secondsBuckets,
    registers,
  });
  return ({ operation, outcome, milliseconds }) => {
    requests.inc({ operation, outcome: outcome.replaceAll(' ', '_') });
    seconds.observe({ operation }, milliseconds / 1000);
  };
};
