#include "../../late_thrust.h"
