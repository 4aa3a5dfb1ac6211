// The short run of the fuzzer. The medium run is fuzz.heavy.test.ts.
import { fuzzSuite } from './fuzz-suite.ts'

fuzzSuite({ sqlite: 300, postgres: 200 })
