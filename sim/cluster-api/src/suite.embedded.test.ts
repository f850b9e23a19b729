import { runClusterApiSuite } from './suite/index.ts';
import { embeddedHost } from './testing/embedded-host.ts';

runClusterApiSuite('the stand-in for Cluster API on the embedded Kubernetes', embeddedHost);
