import library

library.start()
library.work()
