#!/usr/bin/env node
import { runAsProcess } from '../hooks/run-hook.ts';
import { runInstall } from './install.ts';

await runAsProcess(runInstall);
