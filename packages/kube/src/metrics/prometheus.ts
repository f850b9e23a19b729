/**
 * The parts of prom-client that all programs use. Its index also loads a push gateway, summaries, a cluster, default metrics, and three
 * packages for them: a megabyte that the agent does not need.
 */
export { exponentialBuckets } from 'prom-client/lib/bucketGenerators.js';
export { default as Counter } from 'prom-client/lib/counter.js';
export { default as Gauge } from 'prom-client/lib/gauge.js';
export { default as Histogram } from 'prom-client/lib/histogram.js';
export { default as Registry } from 'prom-client/lib/registry.js';
