import { embeddedCluster } from './testing/embedded-cluster.ts';
import { runJoinSuite } from './testing/join-suite.ts';

runJoinSuite('a Mac joins the embedded Kubernetes', embeddedCluster);
